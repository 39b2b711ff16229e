// Modules, optimizers, autograd and files used wrongly: a row is an expression that throws in both libraries.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "parity/bad.h"

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;
namespace optim = torch::optim;
using Tensors = std::vector<Tensor>;

namespace {

struct HalfRegisteredImpl : nn::Module {
  nn::Linear inside{nullptr}, outside{nullptr};
  HalfRegisteredImpl() : outside(2, 2) { inside = register_module("inside", nn::Linear(2, 2)); }
  Tensor forward(const Tensor& x) { return outside(inside(x)); }
};
TORCH_MODULE(HalfRegistered);

// A folder of this process that is removed at the end.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("parity_bad_" + std::to_string(reinterpret_cast<uintptr_t>(this)));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_bytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

}  // namespace

PARITY_CASE(bad_modules, holders_and_registration) {
  nn::Linear empty{nullptr};
  const Tensor x = c.randn({2, 2});
  SAYS("Accessing empty ModuleHolder", empty->forward(x));
  SAYS("Accessing empty ModuleHolder", empty.get()->weight.sum());
  SAYS("Accessing empty ModuleHolder", *empty);
  SAYS("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x2)",
       nn::Sequential(nn::Linear(2, 2))->forward(c.randn({2, 3})));
  SAYS("Cannot call forward() on an empty Sequential", nn::Sequential()->forward(x));
  SAYS("Index out of range", nn::Sequential(nn::Linear(2, 2))->ptr(1));
  SAYS("Attempted to cast module of type torch::nn::LinearImpl to type torch::nn::Conv1dImpl",
       nn::Sequential(nn::Linear(2, 2))->at<nn::Conv1dImpl>(0));
  SAYS("Index out of range", nn::ModuleList()->ptr(0));
  SAYS("Index out of range", nn::ModuleList(nn::Linear(1, 1))->at<nn::LinearImpl>(3));
  SAYS("Key 'none' is not defined", nn::ModuleDict()->pop("none"));
  SAYS("Key 'none' is not defined", nn::ModuleDict()["none"]);
  SAYS("Cannot call forward() on an empty AnyModule", nn::AnyModule().forward(x));
  SAYS("Expected argument #0 to be of type at::Tensor, but received value of type int",
       nn::AnyModule(nn::Linear(2, 2)).forward(3));
  SAYS("Attempted to cast module of type torch::nn::LinearImpl to type torch::nn::Conv2dImpl",
       nn::AnyModule(nn::Linear(2, 2)).get<nn::Conv2dImpl>());
  HalfRegistered net;
  c.value("unregistered parameters are not found", static_cast<int64_t>(net->parameters().size()));
  SAYS("Parameter name must not contain a dot (got 'a.b')", net->register_parameter("a.b", x));
  SAYS("Parameter name must not be empty", net->register_parameter("", x));
  SAYS("Parameter 'p' already defined", net->register_parameter("p", x); net->register_parameter("p", x));
  SAYS("Buffer 'b' already defined", net->register_buffer("b", x); net->register_buffer("b", x));
  SAYS("Submodule 'inside' already defined", net->register_module("inside", nn::Linear(1, 1)));
  SAYS("Submodule name must not contain a dot (got 'n.m')", net->register_module("n.m", nn::Linear(1, 1)));
  SAYS("No Module with name `none` is registered", net->unregister_module("none"));
  SAYS("(anonymous namespace)::HalfRegisteredImpl. Subclass torch::nn::Cloneable<", net->clone());
  SAYS("clone() has not been implemented for ", net->clone(std::nullopt));
  SAYS("Key 'none' is not defined", net->named_parameters()["none"]);
  SAYS("mat1 and mat2 shapes cannot be multiplied (2x5 and 2x2)", net->forward(c.randn({2, 5})));
  SAYS("mat1 and mat2 must have the same dtype, but got Double and Float",
       net->forward(c.randn({2, 2}, torch::kDouble)));
  BAD(net->forward(Tensor()));
  SAYS("data set to a tensor that requires gradients must be floating point or complex dtype", net->to(torch::kLong));
  BAD(net->to(torch::kCUDA));
}

PARITY_CASE(bad_modules, options) {
  SAYS("in_channels, groups and out_channels must be a positive integer",
       nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(0)));
  SAYS("in_channels must be divisible by groups", nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(2)));
  SAYS("out_channels must be divisible by groups", nn::Conv2d(nn::Conv2dOptions(4, 3, 3).groups(2)));
  SAYS("in_channels, groups and out_channels must be a positive integer",
       nn::Conv2d(nn::Conv2dOptions(0, 4, 3))->forward(c.randn({1, 3, 5, 5})));
  SAYS("dropout probability has to be between 0 and 1, but got 2", nn::Dropout(2));
  SAYS("dropout probability has to be between 0 and 1, but got -1", nn::Dropout2d(-1));
  SAYS("dropout probability has to be between 0 and 1, but got 1.1", nn::AlphaDropout(1.1));
  SAYS("Padding_idx must be within num_embeddings", nn::Embedding(nn::EmbeddingOptions(3, 2).padding_idx(3)));
  SAYS("Padding_idx must be within num_embedding", nn::Embedding(nn::EmbeddingOptions(3, 2).padding_idx(-4)));
  SAYS("Shape of _weight does not match num_embeddings and embedding_dim",
       nn::Embedding(nn::EmbeddingOptions(3, 2)._weight(c.randn({2, 2}))));
  SAYS("Embeddings parameter is expected to be 2-dimensional", nn::Embedding::from_pretrained(c.randn({3})));
  SAYS("Embeddings parameter is expected to be 2-dimensional", nn::EmbeddingBag::from_pretrained(c.randn({3})));
  SAYS("embed_dim must be divisible by num_heads", nn::MultiheadAttention(7, 2));
  SAYS("Expected number of channels in input to be divisible by num_groups, but got input of",
       nn::GroupNorm(3, 4)->forward(c.randn({1, 4, 2})));
  BAD(nn::CrossMapLRN2d(3)->forward(c.randn({4, 5})));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 3)",
       nn::Softmax(3)->forward(c.randn({2, 2})));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 3)",
       nn::Flatten(nn::FlattenOptions().start_dim(3))->forward(c.randn({2, 2})));
  BAD(nn::Unflatten(nn::UnflattenOptions(1, {3, 3}))->forward(c.randn({2, 4})));
  SAYS("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of",
       nn::PixelShuffle(2)->forward(c.randn({1, 3, 2, 2})));
  SAYS("either size or scale_factor should be defined",
       nn::Upsample(nn::UpsampleOptions())->forward(c.randn({1, 1, 2, 2})));
  SAYS("scale_factor shape must match input shape. Input is 1D, scale_factor size is [2, 2]",
       nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2.0, 2.0}))->forward(c.randn({1, 1, 4})));
  SAYS("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but",
       nn::Fold(nn::FoldOptions({4, 4}, {2, 2}))->forward(c.randn({1, 5, 9})));
  SAYS("num_layers must be greater than zero", nn::RNN(nn::RNNOptions(2, 3).num_layers(0)));
  SAYS("dropout should be a number in range [0, 1] representing the probability of an element",
       nn::LSTM(nn::LSTMOptions(2, 3).dropout(1.5)));
  SAYS("proj_size has to be a positive integer, smaller than hidden_size or zero to disable",
       nn::LSTM(nn::LSTMOptions(2, 3).proj_size(-1)));
  SAYS("proj_size has to be a positive integer, smaller than hidden_size or zero to disable",
       nn::LSTM(nn::LSTMOptions(2, 3).proj_size(3)));
}

PARITY_CASE(bad_modules, forward) {
  const Tensor x = c.randn({2, 3, 4}), image = c.randn({2, 3, 6, 6}), whole = c.randint(0, 3, {2, 3});
  SAYS("mat1 and mat2 shapes cannot be multiplied (6x4 and 5x2)", nn::Linear(5, 2)->forward(x));
  SAYS("mat1 and mat2 must have the same dtype, but got Long and Float", nn::Linear(3, 2)->forward(whole));
  BAD(nn::Bilinear(3, 3, 2)->forward(c.randn({2, 3}), c.randn({3, 3})));
  SAYS("Given groups=1, weight of size [2, 4, 1], expected input[2, 3, 4] to have 4 channels, but",
       nn::Conv1d(4, 2, 1)->forward(x));
  SAYS("Kernel size can't be greater than actual input size", nn::Conv2d(3, 2, 7)->forward(image));
  SAYS("Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [3, 4]",
       nn::Conv2d(3, 2, 3)->forward(x.select(0, 0)));
  SAYS("Given transposed=1, weight of size [2, 2, 3, 3], expected input[2, 3, 6, 6] to have 2",
       nn::ConvTranspose2d(2, 2, 3)->forward(image));
  SAYS("requested an output size of [20, 20], but valid sizes",
       nn::ConvTranspose2d(3, 2, 3)->forward(image, at::IntArrayRef({20, 20})));
  SAYS("should contain 3 elements not 5", nn::BatchNorm1d(5)->forward(x));
  SAYS("expected 2D or 3D input (got 4D input)", nn::BatchNorm1d(6)->forward(image));
  SAYS("expected 4D input (got 3D input)", nn::BatchNorm2d(3)->forward(x));
  SAYS("expected 5D input (got 4D input)", nn::BatchNorm3d(3)->forward(image));
  SAYS("Expected more than 1 value per channel when training, got input size [1, 3]",
       nn::BatchNorm1d(3)->forward(c.randn({1, 3})));
  SAYS("expected 2D or 3D input (got 4D input)", nn::InstanceNorm1d(3)->forward(image));
  SAYS("Given normalized_shape=[5], expected input", nn::LayerNorm(nn::LayerNormOptions({5}))->forward(x));
  SAYS("Calculated output size", nn::MaxPool2d(7)->forward(image));
  SAYS("Calculated output size", nn::AvgPool2d(7)->forward(image));
  SAYS("Expected shape of indices to be same as that of the input tensor ([2, 3, 6, 6]) but got",
       nn::MaxUnpool2d(2)->forward(image, whole));
  SAYS("index out of range in self", nn::Embedding(3, 2)->forward(torch::tensor({-1})));
  SAYS("index out of range in self", nn::Embedding(3, 2)->forward(torch::tensor({3})));
  SAYS("Expected tensor for argument #1 'indices' to have one of the following scalar types:",
       nn::Embedding(3, 2)->forward(c.randn({2})));
  SAYS("offsets has to be a 1D Tensor but got null", nn::EmbeddingBag(3, 2)->forward(torch::tensor({0, 1})));
  BAD(nn::EmbeddingBag(3, 2)->forward(torch::tensor({0, 3}), torch::tensor({0})));
  SAYS("offsets[0] has to be 0", nn::EmbeddingBag(3, 2)->forward(torch::tensor({0, 1}), torch::tensor({1})));
  BAD(nn::EmbeddingBag(3, 2)->forward(torch::tensor({0, 1}), torch::tensor({0, 3})));
  SAYS("If input is 2D, then offsets has to be null, as input is treated is a mini-batch of fixed",
       nn::EmbeddingBag(3, 2)->forward(torch::tensor({{0, 1}}), torch::tensor({0})));
  SAYS("per_sample_weights is only supported for mode='kSum' (got mode='kMean')",
       nn::EmbeddingBag(3, 2)->forward(torch::tensor({{0, 1}}), {}, c.randn({1, 2})));
}

PARITY_CASE(bad_modules, forward_of_recurrent) {
  const Tensor x = c.randn({2, 3, 4}), image = c.randn({2, 3, 6, 6}), whole = c.randint(0, 3, {2, 3});
  SAYS("input must have 3 dimensions, got 2", nn::RNN(4, 5)->forward(c.randn({2, 3})));
  SAYS("Expected hidden size 1 3 5, got [1, 2, 5]", nn::RNN(4, 5)->forward(c.randn({2, 3, 4}), c.randn({1, 2, 5})));
  SAYS("Expected hidden[1] size 1 3 5, got [1, 3, 4]",
       nn::LSTM(4, 5)->forward(x, std::make_tuple(c.randn({1, 3, 5}), c.randn({1, 3, 4}))));
  SAYS("mat1 and mat2 must have the same dtype, but got Double and Float",
       nn::GRU(4, 5)->forward(c.randn({2, 3, 4}, torch::kDouble)));
  SAYS("input has inconsistent input_size: got 3 expected 4", nn::LSTMCell(4, 5)->forward(c.randn({2, 3})));
  SAYS("Input batch size 2 doesn't match hidden0 batch size 3",
       nn::GRUCell(4, 5)->forward(c.randn({2, 4}), c.randn({3, 5})));
  SAYS("hidden0 has inconsistent hidden_size: got 4, expected 5",
       nn::RNNCell(4, 5)->forward(c.randn({2, 4}), c.randn({2, 4})));
  BAD(nn::MultiheadAttention(4, 2)->forward(c.randn({3, 2, 5}), c.randn({3, 2, 5}), c.randn({3, 2, 5})));
  BAD(nn::TransformerEncoderLayer(8, 2)->forward(c.randn({3, 2, 7})));
  SAYS("Mismatch of parameter numbers and input channel size. Found parameter numbers = 5 and",
       nn::PReLU(nn::PReLUOptions().num_parameters(5))->forward(x));
  SAYS("Halving dimension must be even, but dimension 1 is size 3", nn::GLU(1)->forward(x));
  SAYS("Target 3 is out of bounds", nn::CrossEntropyLoss()->forward(c.randn({2, 3}), torch::tensor({0, 3})));
  SAYS("Expected input batch_size (2) to match target batch_size (3)",
       nn::CrossEntropyLoss()->forward(c.randn({2, 3}), torch::tensor({0, 1, 2})));
  SAYS("expected scalar type Long but found Float",
       nn::NLLLoss()->forward(c.randn({2, 3}), torch::tensor({0.0f, 1.0f})));
  SAYS("Using a target size ([3, 2]) that is different to the input size ([2, 3]) is deprecated.",
       nn::BCELoss()->forward(c.rand({2, 3}), c.rand({3, 2})));
  SAYS("The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1",
       nn::MSELoss()->forward(c.rand({2, 3}), c.rand({4, 2})));
  SAYS("1D target tensor expects 2D input tensors, but found inputs with sizes [2, 3, 4] and [2,",
       nn::CosineEmbeddingLoss()->forward(x, x, c.randn({2})));
  SAYS("Expected tensor to have size at least 10 at dimension 1",
       nn::CTCLoss()->forward(x, torch::ones({3, 9}, torch::kLong), torch::tensor({2, 2, 2}),
                              torch::tensor({9, 9, 10})));
  SAYS("one_hot is only applicable to index tensor of type LongTensor", F::one_hot(whole.to(torch::kFloat)));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 5)",
       F::normalize(x, F::NormalizeFuncOptions().dim(5)));
  BAD(F::interpolate(image, F::InterpolateFuncOptions().size(std::vector<int64_t>{4}).mode(torch::kBilinear)));
  SAYS("Padding length must be divisible by 2", F::pad(image, F::PadFuncOptions({1, 1, 1})));
  SAYS("expected grid and input to have same batch size, but got input with sizes [2, 3, 6, 6]",
       F::grid_sample(image, c.randn({1, 2, 2, 2})));
  BAD(F::unfold(image, F::UnfoldFuncOptions({9, 9})));
}

PARITY_CASE(bad_modules, autograd) {
  const auto x = c.leaf({3}), far = c.leaf({3});
  SAYS("grad can be implicitly created only for scalar outputs", (x * 2).backward());
  SAYS("element 0 of tensors does not require grad and does not have a grad_fn", x.detach().sum().backward());
  SAYS("Trying to backward through the graph a second time (or directly access saved tensors", auto y = x.exp();
       y.sum().backward(); y.sum().backward());
  SAYS("the differentiated Tensors appears to not have been used in the graph. Set",
       torch::autograd::grad({(x * 2).sum()}, {far}));
  SAYS("grad can be implicitly created only for scalar outputs", torch::autograd::grad({x * 2}, {x}));
  SAYS("got 2 tensors and 1 gradients", torch::autograd::grad({(x * 2).sum(), (x * 3).sum()}, {x}, {c.randn({})}));
  SAYS("does not require grad", torch::autograd::grad({(x * 2).sum()}, {c.randn({3})}));
  BAD(torch::autograd::backward({x * 2}, {c.randn({4})}));
  SAYS("one of the variables needed for gradient computation has been modified by an inplace", auto y = x.exp();
       y.add_(1); y.sum().backward());
  SAYS("one of the variables needed for gradient computation has been modified by an inplace", auto y = x * 1;
       auto z = y.sin(); y.mul_(2); z.sum().backward());
  SAYS("one of the variables needed for gradient computation has been modified by an inplace", auto y = x * 1;
       auto z = y.matmul(far); y[0] = 1; z.backward());
  SAYS("one of the variables needed for gradient computation has been modified by an inplace", auto y = x.sigmoid();
       y.slice(0, 0, 1).zero_(); y.sum().backward());
  SAYS("one of the variables needed for gradient computation has been modified by an inplace", auto w = c.randn({3, 3});
       auto z = torch::linear(x, w); w.add_(1); z.sum().backward());
  SAYS("one of the variables needed for gradient computation has been modified by an inplace",
       auto w = c.leaf({2, 1, 2, 2});
       auto u = w * 1; auto i = c.leaf({1, 1, 3, 3}); auto z = torch::conv2d(i, u); u.zero_(); z.sum().backward());
  SAYS("a leaf Variable that requires grad is being used in an in-place operation", x.add_(1));
  SAYS("a view of a leaf Variable that requires grad is being used in an in-place operation",
       x.detach().requires_grad_().view({3}).mul_(2));
  SAYS("unsupported operation: more than one element of the written-to tensor refers to a single",
       x.expand({2, 3}).clone().expand({2, 2, 3}).add_(1));
  BAD(x.register_hook([](Tensor g) { return torch::cat({g, g}); }); x.sum().backward());
  SAYS("cannot register a hook on a variable that doesn't require gradient",
       x.detach().register_hook([](Tensor g) { return g; }));
  SAYS("Only Tensors of floating point and complex dtype can require gradients",
       c.randint(0, 3, {2}).set_requires_grad(true));
  SAYS(
      "Inplace update to inference tensor outside InferenceMode is not allowed", torch::InferenceMode guard;
      auto y = torch::ones({2}); {
        torch::InferenceMode off(false);
        y.add_(x[0]);
      });
}

PARITY_CASE(bad_modules, optimizers) {
  const auto x = c.leaf({3});
  SAYS("can't optimize a non-leaf Tensor", optim::SGD({x * 2}, 0.1));
  SAYS("Invalid learning rate: -0.1", optim::SGD({x}, -0.1));
  SAYS("Invalid beta parameter at index 0: 1.5", optim::Adam({x}, optim::AdamOptions(0.1).betas({1.5, 0.9})));
  SAYS("Invalid weight_decay value: -1", optim::Adam({x}, optim::AdamOptions(0.1).weight_decay(-1)));
  SAYS("LBFGS requires a closure function", optim::LBFGS({x}).step(nullptr));
  SAYS("the closure's own",
       optim::SGD({x}, 0.1).step([]() -> Tensor { throw std::runtime_error("the closure's own"); }));
  BAD(x.mutable_grad() = c.randn({2}); optim::SGD({x}, 0.1).step());
  SAYS("shape '[3]' is invalid for input of size 2", nn::utils::vector_to_parameters(c.randn({2}), {x}));
}

PARITY_CASE(bad_modules, files) {
  const Folder folder;
  const std::string good = folder.file("good.pt"), bad = folder.file("bad.pt"), none = folder.file("no/such/file.pt");
  Tensor t, wrong = c.randn({7});
  nn::Linear net(3, 2), other(4, 2);
  torch::save(net, good);
  const std::string bytes = bytes_of(good);
  SAYS("No such file or directory", torch::load(t, none));
  SAYS("No such file or directory", torch::load(net, none));
  BAD(torch::save(net, none));
  BAD(torch::load(t, folder.path.string()));
  SAYS("mat1 and mat2 shapes cannot be multiplied (1x4 and 3x2)", torch::load(other, good);
       other->forward(c.randn({1, 4})));
  for (size_t size : {size_t{0}, size_t{1}, size_t{30}, bytes.size() / 2, bytes.size() - 1}) {
    write_bytes(bad, bytes.substr(0, size));
    c.throws("truncated_" + std::to_string(size == bytes.size() - 1 ? 99
                                           : size > 30              ? 50
                                                                    : size),
             [&] { torch::load(net, bad); });
  }
  write_bytes(bad, std::string(1000, 'x'));
  BAD(torch::load(net, bad));
  optim::SGD sgd({net->weight}, 0.1);
  BAD(torch::load(sgd, bad));
  BAD(torch::data::datasets::MNIST(folder.path.string()));
  write_bytes(folder.file("train-images-idx3-ubyte"), "\0\0\x08\x03 too short");
  BAD(torch::data::datasets::MNIST(folder.path.string()));
  SAYS("index 5 out of range for tensor of size [3] at dimension 0",
       torch::data::datasets::TensorDataset(c.randn({3})).get(5));
  torch::serialize::InputArchive archive;
  archive.load_from(good);
  SAYS("No such serialized tensor 'none'", archive.read("none", wrong));
}
