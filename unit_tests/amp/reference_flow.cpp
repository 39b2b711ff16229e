// The mixed-precision loop of the reference documents, as written, at every level: parameters in float32, half copies
// of them made once per update, gradients in float32, unscaled, clipped, an update in float32.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

#include <cmath>

namespace nn = torch::nn;
using torch::Tensor;

namespace {

// Layers of the library alone.
struct ModuleNetImpl : nn::Module {
  Tensor forward(const Tensor& x) { return out(torch::relu(norm(conv(x).flatten(1)))); }
  nn::Conv2d conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(1, 4, 3).bias(false)));
  nn::BatchNorm1d norm = register_module("norm", nn::BatchNorm1d(4 * 36));
  nn::Linear out = register_module("out", nn::Linear(4 * 36, 5));
};
TORCH_MODULE(ModuleNet);

// Functions that forward calls itself, on parameters of its own.
struct FunctionNetImpl : nn::Module {
  Tensor forward(const Tensor& x) {
    const Tensor h = torch::tanh(torch::matmul(x.flatten(1), first) + bias);
    seen = torch::matmul(h, h.t()).scalar_type();
    return torch::matmul(h * gain, second);
  }
  Tensor first = register_parameter("first", torch::randn({64, 32}) * 0.1);
  Tensor bias = register_parameter("bias", torch::zeros({32}));
  Tensor gain = register_parameter("gain", torch::ones({32}));
  Tensor second = register_parameter("second", torch::randn({32, 5}) * 0.1);
  torch::ScalarType seen = torch::kInt;
};
TORCH_MODULE(FunctionNet);

struct Trained {
  std::vector<float> losses;
  std::vector<Tensor> before, after;
  std::vector<int64_t> casts;  // of weights, per update
  int64_t bytes = 0;
};

constexpr int kSteps = 8;

// Threads gain nothing here, and wait long where the machine is busy.
struct OneThread {
  OneThread() : before(torch::get_num_threads()) { torch::set_num_threads(1); }
  ~OneThread() { torch::set_num_threads(before); }
  int before;
};

template <class Net>
Trained reference_loop(const std::string& level, torch::ScalarType dtype, int passes_per_update = 1) {
  const OneThread one_thread;
  torch::manual_seed(4);
  Net net;
  const Tensor y = torch::randint(0, 5, {32});
  const Tensor x = torch::randn({32, 1, 8, 8}) * 0.3 + y.to(torch::kFloat).view({-1, 1, 1, 1}) * 0.5;
  Trained result;
  for (const Tensor& p : net->parameters()) result.before.push_back(p.detach().clone());
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(1e-2));
  torch::amp::GradScaler scaler("cpu", 1024.0);

  net = hb::amp::auto_mixed_precision(net, level, dtype);
  auto forward = [&](const Tensor& images, const Tensor& labels) {
    return scaler.scale(nn::functional::cross_entropy(net(images), labels));
  };
  auto grad_fn = torch::value_and_grad(forward, net->parameters());
  for (int step = 0; step < kSteps; ++step) {
    const int64_t casts = hb::amp::half_copies(*net).made;
    for (int pass = 1; pass < passes_per_update; ++pass) grad_fn(x, y);
    auto [loss, grads] = grad_fn(x, y);
    EXPECT_EQ(loss.scalar_type(), torch::kFloat);
    for (const Tensor& g : grads) EXPECT_EQ(g.scalar_type(), torch::kFloat);
    result.losses.push_back(loss.template item<float>() / 1024);
    scaler.unscale_(optimizer, grads);
    grads = hb::clip_by_global_norm(grads, 5.0);
    scaler.step(optimizer, grads);
    scaler.update();
    result.casts.push_back(hb::amp::half_copies(*net).made - casts);
  }
  for (const Tensor& p : net->parameters()) {
    EXPECT_EQ(p.scalar_type(), torch::kFloat);
    result.after.push_back(p.detach().clone());
  }
  result.bytes = hb::amp::half_copies(*net).bytes;
  return result;
}

double share_changed(const Trained& t) {
  int64_t changed = 0, all = 0;
  for (size_t i = 0; i < t.before.size(); ++i) {
    changed += t.before[i].ne(t.after[i]).sum().item<int64_t>();
    all += t.before[i].numel();
  }
  return static_cast<double>(changed) / static_cast<double>(all);
}

struct Row {
  const char* level;
  int64_t module_casts, function_casts;  // per update
};
// ModuleNet: parameters of the convolution and the linear layer (batch_norm takes float32 ones beside half input).
// FunctionNet: at O1 and `auto` what matmul takes.
constexpr Row kRows[] = {{"O0", 0, 0}, {"O1", 3, 2}, {"O2", 3, 4}, {"O3", 3, 4}, {"auto", 3, 2}};

template <class Net>
void check(const Trained& plain, const Row& row, int64_t casts, torch::ScalarType dtype) {
  SCOPED_TRACE(std::string(row.level) + " " + torch::toString(dtype));
  const Trained half = reference_loop<Net>(row.level, dtype);
  EXPECT_EQ(share_changed(half), 1.0);
  for (int i = 0; i < kSteps; ++i) EXPECT_NEAR(half.losses[i], plain.losses[i], 0.01 * plain.losses[i]) << i;
  EXPECT_LT(half.losses.back(), half.losses.front());
  EXPECT_EQ(half.casts, std::vector<int64_t>(kSteps, casts));
  // Several passes between two updates share them.
  EXPECT_EQ(reference_loop<Net>(row.level, dtype, 3).casts, half.casts);
}

const auto kHalf = torch::kHalf;
const auto kBf16 = torch::kBFloat16;

}  // namespace

TEST(AmpReferenceFlow, NetsOfModules) {
  const Trained plain = reference_loop<ModuleNet>("O0", kHalf);
  for (const Row& row : kRows)
    for (auto dtype : {kHalf, kBf16}) check<ModuleNet>(plain, row, row.module_casts, dtype);
}

TEST(AmpReferenceFlow, NetsThatCallFunctions) {
  const Trained plain = reference_loop<FunctionNet>("O0", kHalf);
  for (const Row& row : kRows)
    for (auto dtype : {kHalf, kBf16}) check<FunctionNet>(plain, row, row.function_casts, dtype);
}

TEST(AmpReferenceFlow, FunctionsFollowTheLevel) {
  const Tensor x = torch::randn({4, 64});
  const auto dtype_of = [&](const char* level) {
    auto net = hb::amp::auto_mixed_precision(FunctionNet(), level, kBf16);
    EXPECT_EQ(net(x).scalar_type(), level == std::string("auto") ? kBf16 : torch::kFloat) << level;
    return net->seen;
  };
  EXPECT_EQ(dtype_of("O0"), torch::kFloat);
  EXPECT_EQ(dtype_of("O1"), torch::kFloat);  // computed in half, cast back
  EXPECT_EQ(dtype_of("O2"), kBf16);
  EXPECT_EQ(dtype_of("O3"), kBf16);
  EXPECT_EQ(dtype_of("auto"), kBf16);
  auto half = hb::amp::auto_mixed_precision(FunctionNet(), "O1", kBf16);
  torch::manual_seed(1);
  const Tensor w = torch::randn({64, 32});
  struct ProductImpl : nn::Module {
    explicit ProductImpl(Tensor w) : w(std::move(w)) {}
    Tensor forward(const Tensor& x) { return torch::matmul(x, w); }
    Tensor w;
  };
  auto product = hb::amp::auto_mixed_precision(std::make_shared<ProductImpl>(w), "O1", kBf16);
  nn::ModuleHolder<ProductImpl> holder(product);
  EXPECT_TRUE(torch::equal(holder(x), torch::matmul(x.to(kBf16), w.to(kBf16)).to(torch::kFloat)));
}

TEST(AmpReferenceFlow, ManualCastsAndToFloatKeepTheirWord) {
  struct NetImpl : nn::Module {
    Tensor forward(const Tensor& x) {
      const Tensor wide = first(x).to(torch::kFloat);
      manual = torch::matmul(wide, wide.t()).scalar_type();
      scores = torch::softmax(wide, -1).scalar_type();
      {
        torch::autocast off(torch::kCPU, std::nullopt, false);
        by_hand = torch::matmul(wide, weight).scalar_type();
      }
      return second(wide);
    }
    nn::Linear first = register_module("first", nn::Linear(8, 8)), second = register_module("second", nn::Linear(8, 2));
    Tensor weight = register_parameter("weight", torch::randn({8, 2}));
    torch::ScalarType manual{}, scores{}, by_hand{};
  };
  for (const char* level : {"O2", "O3"}) {
    for (const bool before : {true, false}) {
      nn::ModuleHolder<NetImpl> net(std::make_shared<NetImpl>());
      if (before) hb::amp::to_float(net->second, torch::kFloat);
      hb::amp::auto_mixed_precision(net, level, kBf16);
      if (!before) hb::amp::to_float(net->second, torch::kFloat);
      torch::ScalarType inside{};
      net->second->register_forward_pre_hook([&](nn::Module&, const std::vector<Tensor>& inputs) {
        inside = inputs[0].scalar_type();
        return inputs;
      });
      const Tensor out = net(torch::randn({3, 8}));
      EXPECT_EQ(net->manual, torch::kFloat) << level;
      EXPECT_EQ(net->scores, torch::kFloat) << level;
      EXPECT_EQ(net->by_hand, torch::kFloat) << level;
      EXPECT_EQ(inside, torch::kFloat) << level << before;
      out.sum().backward();
      EXPECT_EQ(net->weight.grad().defined(), false);
      EXPECT_EQ(net->second->weight.grad().scalar_type(), torch::kFloat);
    }
  }
}

TEST(AmpReferenceFlow, EmbeddingsAndRecurrentLayers) {
  struct NetImpl : nn::Module {
    Tensor forward(const Tensor& ids) {
      const Tensor x = table(ids);
      seen = x.scalar_type();
      return out(std::get<0>(lstm(x)).select(1, -1));
    }
    nn::Embedding table = register_module("table", nn::Embedding(20, 8));
    nn::LSTM lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(8, 8).batch_first(true)));
    nn::Linear out = register_module("out", nn::Linear(8, 3));
    torch::ScalarType seen{};
  };
  for (const char* level : {"O1", "O2", "O3", "auto"}) {
    torch::manual_seed(7);
    nn::ModuleHolder<NetImpl> net(std::make_shared<NetImpl>());
    torch::manual_seed(7);
    nn::ModuleHolder<NetImpl> plain(std::make_shared<NetImpl>());
    hb::amp::auto_mixed_precision(net, level, kBf16);
    const Tensor ids = torch::randint(0, 20, {4, 6});
    const Tensor a = net(ids).to(torch::kFloat), b = plain(ids);
    EXPECT_TRUE(torch::allclose(a, b, 0.05, 0.02)) << level;
    EXPECT_EQ(net->seen, level[1] == '2' || level[1] == '3' ? kBf16 : torch::kFloat) << level;
    a.sum().backward(), b.sum().backward();
    for (size_t i = 0; i < net->parameters().size(); ++i) {
      EXPECT_EQ(net->parameters()[i].grad().scalar_type(), torch::kFloat);
      EXPECT_TRUE(torch::allclose(net->parameters()[i].grad(), plain->parameters()[i].grad(), 0.1, 0.05)) << level;
    }
    EXPECT_EQ(hb::amp::half_copies(*net).made, 6) << level;  // four of the LSTM, two of the last layer
  }
}

TEST(AmpReferenceFlow, ALaterLevelReplacesAnEarlierOne) {
  ModuleNet net;
  const Tensor x = torch::randn({4, 1, 8, 8});
  net->eval();
  const Tensor plain = net(x);
  hb::amp::auto_mixed_precision(net, "O3", kBf16);
  EXPECT_FALSE(torch::equal(net(x), plain));
  hb::amp::auto_mixed_precision(net, "O0");
  EXPECT_TRUE(torch::equal(net(x), plain));
  EXPECT_EQ(hb::amp::half_copies(*net).made, 0);
}
