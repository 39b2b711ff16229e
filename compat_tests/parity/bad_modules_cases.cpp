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
  BAD(empty->forward(x));
  BAD(empty.get()->weight.sum());
  BAD(*empty);
  BAD(nn::Sequential(nn::Linear(2, 2))->forward(c.randn({2, 3})));
  BAD(nn::Sequential()->forward(x));
  BAD(nn::Sequential(nn::Linear(2, 2))->ptr(1));
  BAD(nn::Sequential(nn::Linear(2, 2))->at<nn::Conv1dImpl>(0));
  BAD(nn::ModuleList()->ptr(0));
  BAD(nn::ModuleList(nn::Linear(1, 1))->at<nn::LinearImpl>(3));
  BAD(nn::ModuleDict()->pop("none"));
  BAD(nn::ModuleDict()["none"]);
  BAD(nn::AnyModule().forward(x));
  BAD(nn::AnyModule(nn::Linear(2, 2)).forward(3));
  BAD(nn::AnyModule(nn::Linear(2, 2)).get<nn::Conv2dImpl>());
  HalfRegistered net;
  c.value("unregistered parameters are not found", static_cast<int64_t>(net->parameters().size()));
  BAD(net->register_parameter("a.b", x));
  BAD(net->register_parameter("", x));
  BAD(net->register_parameter("p", x); net->register_parameter("p", x));
  BAD(net->register_buffer("b", x); net->register_buffer("b", x));
  BAD(net->register_module("inside", nn::Linear(1, 1)));
  BAD(net->register_module("n.m", nn::Linear(1, 1)));
  BAD(net->unregister_module("none"));
  BAD(net->clone());
  BAD(net->named_parameters()["none"]);
  BAD(net->forward(c.randn({2, 5})));
  BAD(net->forward(c.randn({2, 2}, torch::kDouble)));
  BAD(net->forward(Tensor()));
  BAD(net->to(torch::kLong));
  BAD(net->to(torch::kCUDA));
}

PARITY_CASE(bad_modules, options) {
  BAD(nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(0)));
  BAD(nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(2)));
  BAD(nn::Conv2d(nn::Conv2dOptions(4, 3, 3).groups(2)));
  BAD(nn::Conv2d(nn::Conv2dOptions(0, 4, 3))->forward(c.randn({1, 3, 5, 5})));
  BAD(nn::Dropout(2));
  BAD(nn::Dropout2d(-1));
  BAD(nn::AlphaDropout(1.1));
  BAD(nn::Embedding(nn::EmbeddingOptions(3, 2).padding_idx(3)));
  BAD(nn::Embedding(nn::EmbeddingOptions(3, 2).padding_idx(-4)));
  BAD(nn::Embedding(nn::EmbeddingOptions(3, 2)._weight(c.randn({2, 2}))));
  BAD(nn::Embedding::from_pretrained(c.randn({3})));
  BAD(nn::EmbeddingBag::from_pretrained(c.randn({3})));
  BAD(nn::MultiheadAttention(7, 2));
  BAD(nn::GroupNorm(3, 4)->forward(c.randn({1, 4, 2})));
  BAD(nn::CrossMapLRN2d(3)->forward(c.randn({4, 5})));
  BAD(nn::Softmax(3)->forward(c.randn({2, 2})));
  BAD(nn::Flatten(nn::FlattenOptions().start_dim(3))->forward(c.randn({2, 2})));
  BAD(nn::Unflatten(nn::UnflattenOptions(1, {3, 3}))->forward(c.randn({2, 4})));
  BAD(nn::PixelShuffle(2)->forward(c.randn({1, 3, 2, 2})));
  BAD(nn::Upsample(nn::UpsampleOptions())->forward(c.randn({1, 1, 2, 2})));
  BAD(nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2.0, 2.0}))->forward(c.randn({1, 1, 4})));
  BAD(nn::Fold(nn::FoldOptions({4, 4}, {2, 2}))->forward(c.randn({1, 5, 9})));
  BAD(nn::RNN(nn::RNNOptions(2, 3).num_layers(0)));
  BAD(nn::LSTM(nn::LSTMOptions(2, 3).dropout(1.5)));
  BAD(nn::LSTM(nn::LSTMOptions(2, 3).proj_size(-1)));
  BAD(nn::LSTM(nn::LSTMOptions(2, 3).proj_size(3)));
}

PARITY_CASE(bad_modules, forward) {
  const Tensor x = c.randn({2, 3, 4}), image = c.randn({2, 3, 6, 6}), whole = c.randint(0, 3, {2, 3});
  BAD(nn::Linear(5, 2)->forward(x));
  BAD(nn::Linear(3, 2)->forward(whole));
  BAD(nn::Bilinear(3, 3, 2)->forward(c.randn({2, 3}), c.randn({3, 3})));
  BAD(nn::Conv1d(4, 2, 1)->forward(x));
  BAD(nn::Conv2d(3, 2, 7)->forward(image));
  BAD(nn::Conv2d(3, 2, 3)->forward(x.select(0, 0)));
  BAD(nn::ConvTranspose2d(2, 2, 3)->forward(image));
  BAD(nn::ConvTranspose2d(3, 2, 3)->forward(image, at::IntArrayRef({20, 20})));
  BAD(nn::BatchNorm1d(5)->forward(x));
  BAD(nn::BatchNorm1d(6)->forward(image));
  BAD(nn::BatchNorm2d(3)->forward(x));
  BAD(nn::BatchNorm3d(3)->forward(image));
  BAD(nn::BatchNorm1d(3)->forward(c.randn({1, 3})));
  BAD(nn::InstanceNorm1d(3)->forward(image));
  BAD(nn::LayerNorm(nn::LayerNormOptions({5}))->forward(x));
  BAD(nn::MaxPool2d(7)->forward(image));
  BAD(nn::AvgPool2d(7)->forward(image));
  BAD(nn::MaxUnpool2d(2)->forward(image, whole));
  BAD(nn::Embedding(3, 2)->forward(torch::tensor({-1})));
  BAD(nn::Embedding(3, 2)->forward(torch::tensor({3})));
  BAD(nn::Embedding(3, 2)->forward(c.randn({2})));
  BAD(nn::EmbeddingBag(3, 2)->forward(torch::tensor({0, 1})));
  BAD(nn::EmbeddingBag(3, 2)->forward(torch::tensor({0, 3}), torch::tensor({0})));
  BAD(nn::EmbeddingBag(3, 2)->forward(torch::tensor({0, 1}), torch::tensor({1})));
  BAD(nn::EmbeddingBag(3, 2)->forward(torch::tensor({0, 1}), torch::tensor({0, 3})));
  BAD(nn::EmbeddingBag(3, 2)->forward(torch::tensor({{0, 1}}), torch::tensor({0})));
  BAD(nn::EmbeddingBag(3, 2)->forward(torch::tensor({{0, 1}}), {}, c.randn({1, 2})));
  BAD(nn::RNN(4, 5)->forward(c.randn({2, 3})));
  BAD(nn::RNN(4, 5)->forward(c.randn({2, 3, 4}), c.randn({1, 2, 5})));
  BAD(nn::LSTM(4, 5)->forward(x, std::make_tuple(c.randn({1, 3, 5}), c.randn({1, 3, 4}))));
  BAD(nn::GRU(4, 5)->forward(c.randn({2, 3, 4}, torch::kDouble)));
  BAD(nn::LSTMCell(4, 5)->forward(c.randn({2, 3})));
  BAD(nn::GRUCell(4, 5)->forward(c.randn({2, 4}), c.randn({3, 5})));
  BAD(nn::RNNCell(4, 5)->forward(c.randn({2, 4}), c.randn({2, 4})));
  BAD(nn::MultiheadAttention(4, 2)->forward(c.randn({3, 2, 5}), c.randn({3, 2, 5}), c.randn({3, 2, 5})));
  BAD(nn::TransformerEncoderLayer(8, 2)->forward(c.randn({3, 2, 7})));
  BAD(nn::PReLU(nn::PReLUOptions().num_parameters(5))->forward(x));
  BAD(nn::GLU(1)->forward(x));
  BAD(nn::CrossEntropyLoss()->forward(c.randn({2, 3}), torch::tensor({0, 3})));
  BAD(nn::CrossEntropyLoss()->forward(c.randn({2, 3}), torch::tensor({0, 1, 2})));
  BAD(nn::NLLLoss()->forward(c.randn({2, 3}), torch::tensor({0.0f, 1.0f})));
  BAD(nn::BCELoss()->forward(c.rand({2, 3}), c.rand({3, 2})));
  BAD(nn::MSELoss()->forward(c.rand({2, 3}), c.rand({4, 2})));
  BAD(nn::CosineEmbeddingLoss()->forward(x, x, c.randn({2})));
  BAD(nn::CTCLoss()->forward(x, torch::ones({3, 9}, torch::kLong), torch::tensor({2, 2, 2}),
                             torch::tensor({9, 9, 10})));
  BAD(F::one_hot(whole.to(torch::kFloat)));
  BAD(F::normalize(x, F::NormalizeFuncOptions().dim(5)));
  BAD(F::interpolate(image, F::InterpolateFuncOptions().size(std::vector<int64_t>{4}).mode(torch::kBilinear)));
  BAD(F::pad(image, F::PadFuncOptions({1, 1, 1})));
  BAD(F::grid_sample(image, c.randn({1, 2, 2, 2})));
  BAD(F::unfold(image, F::UnfoldFuncOptions({9, 9})));
}

PARITY_CASE(bad_modules, autograd) {
  const auto x = c.leaf({3}), far = c.leaf({3});
  BAD((x * 2).backward());
  BAD(x.detach().sum().backward());
  BAD(auto y = x.exp(); y.sum().backward(); y.sum().backward());
  BAD(torch::autograd::grad({(x * 2).sum()}, {far}));
  BAD(torch::autograd::grad({x * 2}, {x}));
  BAD(torch::autograd::grad({(x * 2).sum(), (x * 3).sum()}, {x}, {c.randn({})}));
  BAD(torch::autograd::grad({(x * 2).sum()}, {c.randn({3})}));
  BAD(torch::autograd::backward({x * 2}, {c.randn({4})}));
  BAD(auto y = x.exp(); y.add_(1); y.sum().backward());
  BAD(auto y = x * 1; auto z = y.sin(); y.mul_(2); z.sum().backward());
  BAD(auto y = x * 1; auto z = y.matmul(far); y[0] = 1; z.backward());
  BAD(auto y = x.sigmoid(); y.slice(0, 0, 1).zero_(); y.sum().backward());
  BAD(auto w = c.randn({3, 3}); auto z = torch::linear(x, w); w.add_(1); z.sum().backward());
  BAD(auto w = c.leaf({2, 1, 2, 2}); auto u = w * 1; auto i = c.leaf({1, 1, 3, 3}); auto z = torch::conv2d(i, u);
      u.zero_(); z.sum().backward());
  BAD(x.add_(1));
  BAD(x.detach().requires_grad_().view({3}).mul_(2));
  BAD(x.expand({2, 3}).clone().expand({2, 2, 3}).add_(1));
  BAD(x.register_hook([](Tensor g) { return torch::cat({g, g}); }); x.sum().backward());
  BAD(x.detach().register_hook([](Tensor g) { return g; }));
  BAD(c.randint(0, 3, {2}).set_requires_grad(true));
  BAD(torch::InferenceMode guard; auto y = torch::ones({2}); {
    torch::InferenceMode off(false);
    y.add_(x[0]);
  });
}

PARITY_CASE(bad_modules, optimizers) {
  const auto x = c.leaf({3});
  BAD(optim::SGD({x * 2}, 0.1));
  BAD(optim::SGD({x}, -0.1));
  BAD(optim::Adam({x}, optim::AdamOptions(0.1).betas({1.5, 0.9})));
  BAD(optim::Adam({x}, optim::AdamOptions(0.1).weight_decay(-1)));
  BAD(optim::LBFGS({x}).step(nullptr));
  BAD(optim::SGD({x}, 0.1).step([]() -> Tensor { throw std::runtime_error("the closure's own"); }));
  BAD(x.mutable_grad() = c.randn({2}); optim::SGD({x}, 0.1).step());
  BAD(nn::utils::vector_to_parameters(c.randn({2}), {x}));
}

PARITY_CASE(bad_modules, files) {
  const Folder folder;
  const std::string good = folder.file("good.pt"), bad = folder.file("bad.pt"), none = folder.file("no/such/file.pt");
  Tensor t, wrong = c.randn({7});
  nn::Linear net(3, 2), other(4, 2);
  torch::save(net, good);
  const std::string bytes = bytes_of(good);
  BAD(torch::load(t, none));
  BAD(torch::load(net, none));
  BAD(torch::save(net, none));
  BAD(torch::load(t, folder.path.string()));
  BAD(torch::load(other, good); other->forward(c.randn({1, 4})));
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
  BAD(torch::data::datasets::TensorDataset(c.randn({3})).get(5));
  torch::serialize::InputArchive archive;
  archive.load_from(good);
  BAD(archive.read("none", wrong));
}
