// Optimizers, schedulers, data loaders, archives and helpers of networks used wrongly: what both builds say.
#include "parity/bad.h"

#include <torch/csrc/utils/tensor_flatten.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace nn = torch::nn;
namespace optim = torch::optim;
namespace data = torch::data;
using torch::Tensor;

namespace {

// Data that throws.
struct Broken : data::datasets::Dataset<Broken, int> {
  int get(size_t) override { throw std::invalid_argument("no such example"); }
  std::optional<size_t> size() const override { return 10; }
};

struct Counted : data::datasets::Dataset<Counted, int> {
  int get(size_t index) override { return static_cast<int>(index); }
  std::optional<size_t> size() const override { return 4; }
};

std::string saved(const std::function<void(torch::serialize::OutputArchive&)>& write) {
  torch::serialize::OutputArchive archive;
  write(archive);
  std::ostringstream stream;
  archive.save_to(stream);
  return stream.str();
}

torch::serialize::InputArchive opened(const std::string& bytes) {
  std::istringstream stream(bytes);
  torch::serialize::InputArchive archive;
  archive.load_from(stream);
  return archive;
}

}  // namespace

PARITY_CASE(bad_training, options_of_optimizers) {
  const std::vector<Tensor> x = {c.leaf({3})};
  SAYS("Invalid momentum value: -0.5", optim::SGD(x, optim::SGDOptions(0.1).momentum(-0.5)));
  SAYS("Invalid weight_decay value: -0.5", optim::SGD(x, optim::SGDOptions(0.1).weight_decay(-0.5)));
  SAYS("Nesterov momentum requires a momentum and zero dampening",
       optim::SGD(x, optim::SGDOptions(0.1).nesterov(true)));
  SAYS("Nesterov momentum requires a momentum and zero dampening",
       optim::SGD(x, optim::SGDOptions(0.1).nesterov(true).momentum(0.9).dampening(0.1)));
  SAYS("Invalid learning rate: -1", optim::Adam(x, optim::AdamOptions(-1)));
  SAYS("Invalid epsilon value: -1", optim::Adam(x, optim::AdamOptions(0.1).eps(-1)));
  SAYS("Invalid beta parameter at index 1: 1", optim::Adam(x, optim::AdamOptions(0.1).betas({0.9, 1.0})));
  SAYS("Invalid learning rate: -1", optim::AdamW(x, optim::AdamWOptions(-1)));
  SAYS("Invalid epsilon value: -1", optim::AdamW(x, optim::AdamWOptions(0.1).eps(-1)));
  SAYS("Invalid beta parameter at index 0: -0.1", optim::AdamW(x, optim::AdamWOptions(0.1).betas({-0.1, 0.9})));
  SAYS("Invalid beta parameter at index 1: 1.9", optim::AdamW(x, optim::AdamWOptions(0.1).betas({0.1, 1.9})));
  SAYS("Invalid weight_decay value: -1", optim::AdamW(x, optim::AdamWOptions(0.1).weight_decay(-1)));
  SAYS("Invalid learning rate: -1", optim::Adagrad(x, optim::AdagradOptions(-1)));
  SAYS("Invalid lr_decay value: -1", optim::Adagrad(x, optim::AdagradOptions(0.1).lr_decay(-1)));
  SAYS("Invalid weight_decay value: -1", optim::Adagrad(x, optim::AdagradOptions(0.1).weight_decay(-1)));
  SAYS("Invalid initial_accumulator_value value: -1",
       optim::Adagrad(x, optim::AdagradOptions(0.1).initial_accumulator_value(-1)));
  SAYS("Invalid epsilon value: -1", optim::Adagrad(x, optim::AdagradOptions(0.1).eps(-1)));
  SAYS("Invalid learning rate: -1", optim::RMSprop(x, optim::RMSpropOptions(-1)));
  SAYS("Invalid epsilon value: -1", optim::RMSprop(x, optim::RMSpropOptions(0.1).eps(-1)));
  SAYS("Invalid momentum value: -1", optim::RMSprop(x, optim::RMSpropOptions(0.1).momentum(-1)));
  SAYS("Invalid weight_decay value: -1", optim::RMSprop(x, optim::RMSpropOptions(0.1).weight_decay(-1)));
  SAYS("Invalid alpha value: -1", optim::RMSprop(x, optim::RMSpropOptions(0.1).alpha(-1)));
  SAYS("LBFGS doesn't support per-parameter options (parameter groups)",
       optim::LBFGS({optim::OptimizerParamGroup(x), optim::OptimizerParamGroup({c.leaf({2})})}));
}

PARITY_CASE(bad_training, groups_and_schedulers) {
  const std::vector<Tensor> x = {c.leaf({3})};
  optim::SGD sgd(x, 0.1), none(std::vector<Tensor>{}, 0.1);
  SAYS("can't optimize a non-leaf Tensor", sgd.add_param_group(optim::OptimizerParamGroup({c.leaf({2}) * 2})));
  SAYS("clone() has not been implemented for torch::optim::OptimizerOptions", optim::OptimizerOptions().clone());
  SAYS("clone() has not been implemented for torch::optim::OptimizerParamState", optim::OptimizerParamState().clone());
  SAYS("subclass of torch::optim", optim::OptimizerOptions().get_lr());
  SAYS("subclass of torch::optim", optim::OptimizerOptions().set_lr(1));
  BAD(optim::OptimizerParamGroup(x).options());
  SAYS("Factor should be < 1.0", optim::ReduceLROnPlateauScheduler(sgd, optim::ReduceLROnPlateauScheduler::min, 1.5));
  SAYS("of the closure", sgd.step([]() -> Tensor { throw std::out_of_range("of the closure"); }));
  torch::serialize::OutputArchive archive;
  SAYS("override it in your subclass of torch::optim::OptimizerCloneableOptions<",
       optim::OptimizerOptions().serialize(archive));
  SAYS("override it in your subclass of torch::optim::OptimizerCloneableParamState<",
       optim::OptimizerParamState().serialize(archive));
}

PARITY_CASE(bad_training, data_loaders) {
  auto loader = data::make_data_loader(Counted(), data::DataLoaderOptions(2));
  SAYS("Incrementing the DataLoader's past-the-end iterator is not allowed", ++loader->end());
  SAYS("Dereferencing the DataLoader's past-the-end iterator is not allowed", *loader->end());
  SAYS("Attempted to increment iterator past the end", auto l = data::make_data_loader(Counted(), 4);
       auto it = l->begin(); ++it; ++it);
  SAYS("Attempted to dereference iterator that was past the end", auto l = data::make_data_loader(Counted(), 4);
       auto it = l->begin(); ++it; *it);
  SAYS("Caught exception in DataLoader worker thread. Original message: no such example",
       auto l = data::make_data_loader(Broken(), data::DataLoaderOptions().workers(2));
       *l->begin());
  SAYS("no such example", auto l = data::make_data_loader(Broken(), data::DataLoaderOptions()); *l->begin());
  SAYS("a non-empty TensorList", data::datasets::TensorDataset(std::vector<Tensor>{}).size().value());
  BAD(data::transforms::Stack<data::Example<>>().apply_batch(
      {{c.randn({2}), c.randn({1})}, {c.randn({3}), c.randn({1})}}));
  BAD(Counted()
          .map(data::transforms::Lambda<int>([](int) -> int { throw std::runtime_error("of the transform"); }))
          .get_batch({0, 1}));
}

PARITY_CASE(bad_training, archives) {
  const auto tensor = saved([&](auto& a) { a.write("x", c.randn({2, 3})); });
  const auto value = saved([&](auto& a) { a.write("v", c10::IValue(5)); });
  const auto nothing = saved([](auto&) {});
  Tensor t;
  c10::IValue v;
  torch::serialize::InputArchive inner;
  nn::Linear linear(3, 2);
  nn::BatchNorm1d norm(3);
  nn::Sequential net(nn::Linear(3, 2));
  SAYS("No such serialized tensor 'y'", opened(tensor).read("y", t));
  SAYS("does not have a field with name 'y'", opened(tensor).read("y", v));
  SAYS("No such serialized submodule: 'y'", opened(tensor).read("y", inner));
  SAYS("No such serialized tensor 'v'", opened(value).read("v", t));
  SAYS("No such serialized submodule: 'x'", opened(tensor).read("x", inner));
  SAYS("No such serialized tensor 'weight'", std::istringstream s(nothing); torch::load(linear, s));
  SAYS("No such serialized tensor 'weight'", std::istringstream s(nothing); torch::load(norm, s));
  SAYS("No such serialized submodule: '0'", std::istringstream s(nothing); torch::load(net, s));
  SAYS("No such serialized tensor '0'", std::istringstream s(nothing); torch::load(t, s));
  BAD(std::istringstream s("not an archive"); torch::load(t, s));
  BAD(std::istringstream s; torch::load(t, s));
  SAYS("No such serialized tensor 'momentum_buffers/size'", optim::SGD sgd(linear->parameters(), 0.1);
       std::istringstream s(nothing); torch::load(sgd, s));
  SAYS("loaded state dict contains a parameter group that has a different size than the",
       optim::SGD one({c.leaf({2})}, 0.1);
       optim::SGD two(linear->parameters(), 0.1); std::stringstream s; torch::save(two, s); torch::load(one, s));
  SAYS("loaded state dict has a different number of parameter groups",
       optim::SGD one({optim::OptimizerParamGroup({c.leaf({2})}), optim::OptimizerParamGroup({c.leaf({1})})}, 0.1);
       optim::SGD two(linear->parameters(), 0.1); std::stringstream s; torch::save(two, s); torch::load(one, s));
  BAD(torch::pickle_load(std::vector<char>{'n', 'o'}));
  SAYS("No such file or directory", torch::load(t, std::string("/no/such/folder/file.pt")));
  BAD(torch::save(t, std::string("/no/such/folder/file.pt")));
}

PARITY_CASE(bad_training, helpers) {
  const auto x = c.leaf({3}), steps = c.randn({4, 2, 3});
  x.mutable_grad() = torch::full({3}, std::numeric_limits<float>::infinity());
  namespace rnn = nn::utils::rnn;
  const auto lengths = [](std::vector<int64_t> n) { return torch::tensor(n); };
  SAYS("The total norm of order 2 for gradients from `parameters` is non-finite, so it cannot be",
       nn::utils::clip_grad_norm_({x}, 1.0, 2.0, true));
  SAYS("The total norm of order inf for gradients from `parameters` is non-finite, so it cannot",
       nn::utils::clip_grad_norm_({x}, 1.0, std::numeric_limits<double>::infinity(), true));
  SAYS("expected a non-empty list of Tensors", nn::utils::parameters_to_vector({}));
  SAYS("shape '[3]' is invalid for input of size 2",
       nn::utils::vector_to_parameters(c.randn({4}), {c.leaf({2}), c.leaf({3})}));
  SAYS("You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to",
       rnn::pack_padded_sequence(steps, lengths({2, 4})));
  SAYS("Length of all samples has to be greater than 0, but found an element in 'lengths' that is",
       rnn::pack_padded_sequence(steps, lengths({4, 0})));
  SAYS("Expected `len(lengths)` to be equal to batch_size, but got 3 (batch_size=2)",
       rnn::pack_padded_sequence(steps, lengths({4, 3, 2})));
  SAYS("Expected total_length to be at least the length of the longest sequence in input, but got",
       rnn::pad_packed_sequence(rnn::pack_padded_sequence(steps, lengths({3, 2})), false, 0, 2));
  SAYS("received an empty list of sequences", rnn::pad_sequence(std::vector<Tensor>{}));
  BAD(rnn::pad_sequence({c.randn({2, 3}), c.randn({2, 4})}));
  SAYS("You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to",
       rnn::pack_sequence({c.randn({2, 3}), c.randn({3, 3})}));
  SAYS("input.size(-1) must be equal to input_size. Expected 3, got 2",
       nn::LSTM(nn::LSTMOptions(3, 4))->forward_with_packed_input(rnn::pack_sequence({c.randn({2, 2})})));
  SAYS("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
       nn::init::xavier_uniform_(c.randn({3})));
  SAYS("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
       nn::init::kaiming_normal_(c.randn({})));
  SAYS("Only tensors with 2 or more dimensions are supported", nn::init::orthogonal_(c.randn({3})));
  SAYS("Only tensors with 2 dimensions are supported", nn::init::eye_(c.randn({3})));
  SAYS("Only tensors with 3, 4, or 5 dimensions are supported", nn::init::dirac_(c.randn({3, 3})));
  SAYS("Only tensors with 2 dimensions are supported", nn::init::sparse_(c.randn({3}), 0.1));
  SAYS("start (2) + length (2) exceeds dimension size (3)",
       torch::utils::unflatten_dense_tensors(c.randn({3}), {c.randn({2}), c.randn({2})}));
}

PARITY_CASE(bad_training, layers_and_losses) {
  const auto rows = c.randn({2, 3}), steps = c.randn({5, 2, 4}), image = c.randn({2, 3, 6, 6});
  const auto classes = torch::tensor({0, 1}), labels = torch::ones({2, 3}, torch::kLong);
  SAYS("inconsistent weight size, expected 3 but got [2]",
       nn::MultiMarginLoss(nn::MultiMarginLossOptions().weight(c.randn({2})))->forward(rows, classes));
  SAYS("The anchor, positive, and negative tensors are expected to have the same number of dimensions",
       nn::TripletMarginLoss()->forward(rows, rows, c.randn({3})));
  SAYS("Expected floating point type for target with class probabilities, got Long",
       nn::CrossEntropyLoss()->forward(rows, labels));
  SAYS("Expected input_lengths to have value at most 5, but got value 9",
       nn::CTCLoss()->forward(steps, labels, torch::tensor({9, 5}), torch::tensor({3, 3})));
  SAYS("hidden_size must be greater than zero", nn::RNN(nn::RNNOptions(2, 0)));
  SAYS("kernel size should be greater than zero, but got kernel_height: 0 kernel_width: 2",
       nn::Unfold(nn::UnfoldOptions({0, 2}))->forward(image));
  SAYS("stride should be greater than zero, but got stride_height: 0 stride_width: 0",
       nn::Unfold(nn::UnfoldOptions({2, 2}).stride(0))->forward(image));
  SAYS("both arguments to matmul need to be at least 1D, but they are 0D and 2D",
       nn::Linear(3, 2)->forward(torch::tensor(1.0)));
  SAYS("was not in the map.", c10::Dict<std::string, int64_t>().at("b"));
}

PARITY_CASE(bad_training, data_sets) {
  SAYS("Error opening images file at /no/such/folder", torch::data::datasets::MNIST("/no/such/folder"));
}

PARITY_CASE(bad_training, sparse_gradients) {
  SAYS("does not support sparse gradients", auto x = c.leaf({3}); x.mutable_grad() = torch::ones({3}).to_sparse();
       optim::Adam({x}, 0.1).step());
  SAYS("AdamW does not support sparse gradients", auto x = c.leaf({3}); x.mutable_grad() = torch::ones({3}).to_sparse();
       optim::AdamW({x}, 0.1).step());
  auto x = torch::ones({3}).requires_grad_();
  optim::LBFGS lbfgs({x}, optim::LBFGSOptions(0.1).max_iter(2));
  lbfgs.step([&] {
    x.mutable_grad() = (2 * x.detach()).to_sparse();
    return x.pow(2).sum();
  });
  c.out("LBFGS takes them", x.detach());
}
