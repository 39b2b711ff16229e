// Optimizers, schedulers, samplers, data sets and archives used wrongly.
#include <torch/script.h>

#include "parity/bad.h"

using torch::Tensor;
namespace nn = torch::nn;
namespace optim = torch::optim;
namespace data = torch::data;
using Tensors = std::vector<Tensor>;

namespace {

struct Counted : data::datasets::Dataset<Counted, int> {
  int n = 10;
  int get(size_t index) override { return static_cast<int>(index); }
  std::optional<size_t> size() const override { return 10; }
};
struct Unsized : data::datasets::Dataset<Unsized, int> {
  int get(size_t index) override { return static_cast<int>(index); }
  std::optional<size_t> size() const override { return {}; }
};
struct Sched : optim::LRScheduler {
  using optim::LRScheduler::LRScheduler;
  std::vector<double> get_lrs() override { return {0.1, 0.2, 0.3}; }
};

}  // namespace

PARITY_CASE(bad_loops, optimizers) {
  const auto x = c.leaf({3}), far = c.leaf({3});
  BAD(optim::SGD({Tensor()}, 0.1));
  SAYS("Invalid learning rate: -1", optim::SGD({x}, optim::SGDOptions(-1)));
  SAYS("Invalid epsilon value: -1", optim::Adam({x}, optim::AdamOptions(0.1).eps(-1)));
  SAYS("Invalid beta parameter at index 1: -0.1", optim::Adam({x}, optim::AdamOptions(0.1).betas({0.9, -0.1})));
  SAYS("Invalid epsilon value: -0.1", optim::Adagrad({x}, optim::AdagradOptions(0.1).eps(-0.1)));
  SAYS("only 'strong_wolfe' is supported", optim::LBFGS({x}, optim::LBFGSOptions(1).line_search_fn("wrong")).step([&] {
    x.mutable_grad() = torch::ones({3});
    return x.sum();
  }));
  BAD(optim::LBFGS(std::vector<Tensor>{}, optim::LBFGSOptions(1)).step([&] { return x.sum(); }));
  BAD(optim::LBFGS s({x}, 0.1); s.add_param_group(optim::OptimizerParamGroup({far})); s.step([&] { return x.sum(); }));
  SAYS("vector::_M_range_check: __n (which is 1) >= this->size() (which is 1)", optim::SGD s({x}, 0.1);
       s.param_groups().at(1));
  SAYS("vector::_M_range_check: __n (which is 4) >= this->size() (which is 1)", optim::SGD s({x}, 0.1);
       s.parameters().at(4));
  SAYS("Number of learning rates not equal to the number of param groups", optim::SGD s({x}, 0.1); Sched(s).step());
  SAYS("Factor should be < 1.0.", optim::SGD s({x}, 0.1);
       optim::ReduceLROnPlateauScheduler(s, optim::ReduceLROnPlateauScheduler::min, 1.0));
  SAYS("Number of learning rates not equal to the number of param groups", optim::SGD s({x}, 0.1);
       optim::ReduceLROnPlateauScheduler(s, optim::ReduceLROnPlateauScheduler::max, 0.1, 1, 1e-4,
                                         optim::ReduceLROnPlateauScheduler::rel, 0, {0.1f, 0.2f}));
  BAD(optim::Adam a({x}, 0.1); optim::SGD s({x}, 0.1); std::stringstream f; torch::save(s, f); torch::load(a, f));
  SAYS("loaded state dict contains a parameter group that has a different size than the", optim::Adam a({x}, 0.1);
       optim::Adam s(std::vector<Tensor>{}, 0.1); std::stringstream f; torch::save(s, f); torch::load(a, f));
  SAYS("No such serialized tensor 'square_average_buffers/size'", optim::RMSprop a({x}, 0.1); std::stringstream f;
       torch::save(x, f); torch::load(a, f));
  BAD(optim::Adagrad a({x}, 0.1); std::stringstream f("junk"); torch::load(a, f));
  SAYS("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension",
       x.mutable_grad() = torch::ones({4});
       optim::Adam({x}, 0.1).step());
  SAYS("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension",
       x.mutable_grad() = torch::ones({4});
       optim::Adagrad({x}, 0.1).step());
  SAYS("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension",
       x.mutable_grad() = torch::ones({4});
       optim::RMSprop({x}, 0.1).step());
  SAYS("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension",
       x.mutable_grad() = torch::ones({4});
       optim::AdamW({x}, 0.1).step());
  BAD(x.mutable_grad() = torch::Tensor(); data::samplers::RandomSampler s(5); s.reset(); std::stringstream f("junk");
      torch::serialize::InputArchive a; a.load_from(f));
}

PARITY_CASE(bad_loops, data) {
  SAYS("No such serialized tensor 'indices'", data::samplers::SequentialSampler s(5); torch::serialize::OutputArchive o;
       s.save(o); std::stringstream f; o.save_to(f); torch::serialize::InputArchive a; a.load_from(f);
       data::samplers::RandomSampler r(5); r.load(a));
  SAYS("Trying to create tensor with negative dimension -1:", data::samplers::RandomSampler s(-1));
  SAYS("bad optional access", data::samplers::RandomSampler s(0); s.next(3).value());
  SAYS("bad optional access", data::samplers::SequentialSampler s(0); s.next(3).value());
  SAYS("bad optional access", data::samplers::StreamSampler s(2); s.next(3); s.next(1).value());
  SAYS("bad optional access", data::samplers::DistributedSequentialSampler s(0, 1, 0, false); s.next(3).value());
  SAYS("bad optional access", data::samplers::DistributedRandomSampler s(3, 4, 3, false); s.next(3).value());
  SAYS("Expected the dataset to be sized in order to construct the Sampler",
       auto l = data::make_data_loader(Unsized(), 2));
  SAYS("Expected the dataset to be sized in order to construct the Sampler",
       auto l = data::make_data_loader<data::samplers::RandomSampler>(Unsized(), 2));
  SAYS("Attempted to dereference iterator that was past the end",
       auto l = data::make_data_loader<data::samplers::SequentialSampler>(Counted(), data::DataLoaderOptions(3));
       auto a = l->begin(); auto b = l->begin(); ++a; ++a; ++a; ++a; *a);
  SAYS("Attempted to get a new DataLoader iterator while another iterator is not yet exhausted",
       auto l = data::make_data_loader(Counted(), data::DataLoaderOptions(3).workers(2));
       auto a = l->begin(); auto b = l->begin());
  SAYS("shape '[7]' is invalid for input of size 4",
       auto l = data::make_data_loader(
           data::datasets::TensorDataset(torch::ones({4, 2})).map(data::transforms::Stack<data::TensorExample>()), 2);
       for (auto& b
            : *l) b.data.view({7}));
  SAYS("select() cannot be applied to a 0-dim tensor.", data::datasets::TensorDataset(torch::ones({})).get(0));
  SAYS("index 4 out of range for tensor of size [4] at dimension 0",
       data::datasets::TensorDataset(torch::ones({4})).get(4));
  SAYS("index 9 out of range for tensor of size [4] at dimension 0",
       data::datasets::TensorDataset(torch::ones({4})).get_batch({9}));
  SAYS("The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension",
       data::transforms::Normalize<>({0.5, 0.2}, {1.0, 1.0}).operator()(torch::ones({3, 2, 2})));
  BAD(data::transforms::Stack<data::TensorExample>().apply_batch({}));
  SAYS("expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1",
       data::transforms::Stack<data::TensorExample>().apply_batch({torch::ones({2}), torch::ones({3})}));
  BAD(data::transforms::Stack<data::Example<>>().apply_batch({}));
  BAD(data::datasets::MNIST("/no/such/folder"));
  SAYS("bad optional access",
       data::datasets::map(Unsized(), data::transforms::Lambda<int>([](int v) { return v; })).size().value());
}

PARITY_CASE(bad_loops, files) {
  const auto x = c.leaf({3});
  torch::jit::Module mod("net");
  SAYS("does not have a field with name 'none'", mod.attr("none"));
  SAYS("Method 'none' is not defined.", mod.get_method("none"));
  SAYS("Module has no attribute 'none'", mod.setattr("none", 3));
  BAD(mod.register_parameter("p", torch::ones({2}), false); mod.attr("p").toInt());
  SAYS("Expected a value of type 'int' for field 'a', but found 'Tensor'",
       mod.register_attribute("a", c10::IntType::get(), 3);
       mod.setattr("a", torch::ones({2})));
  SAYS("open file failed because of errno 2 on fopen: No such file or directory, file path:",
       torch::jit::load("/no/such/file.pt"));
  BAD(std::istringstream s("junk"); torch::jit::load(s));
  BAD(std::istringstream s(""); torch::jit::load(s));
  SAYS("No such serialized tensor '0'", Tensor t; std::stringstream s; torch::save(nn::Linear(2, 2), s);
       torch::load(t, s));
  BAD(std::vector<Tensor> t; std::stringstream s("x"); torch::load(t, s));
  SAYS("No such serialized tensor 'weight'", nn::Linear l(2, 3); std::stringstream s; torch::save(x, s);
       torch::load(l, s));
  SAYS("No such serialized submodule: '1'", nn::Sequential l(nn::Linear(2, 3), nn::ReLU(), nn::Linear(3, 1));
       std::stringstream s; torch::save(nn::Sequential(nn::Linear(2, 3)), s); torch::load(l, s));
  SAYS("No such serialized tensor 'running_mean'", nn::BatchNorm1d l(3); std::stringstream s;
       torch::save(nn::Linear(3, 3), s); torch::load(l, s));
  SAYS("No such serialized tensor 'x'", torch::serialize::InputArchive a; Tensor t; a.read("x", t));
  SAYS("open file failed because of errno 2 on fopen: No such file or directory, file path:",
       torch::serialize::InputArchive a;
       a.load_from("/no/such/file"));
  SAYS("PytorchStreamReader failed reading zip archive:", torch::serialize::InputArchive a; a.load_from("x", 1));
  BAD(torch::serialize::OutputArchive a; a.save_to("/no/such/folder/f"));
  SAYS("PytorchStreamReader failed reading zip archive:", torch::pickle_load({}));
  SAYS("PytorchStreamReader failed reading zip archive:", torch::pickle_load(std::vector<char>{'\x80', '\x02', 'K'}));
  BAD(torch::pickle_load(torch::pickle_save(torch::ones({2}))).toInt());
  SAYS("Expected Tensor but got Int", torch::pickle_load(torch::pickle_save(c10::IValue(3))).toTensor());
}
