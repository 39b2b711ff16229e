// Half copies of float32 parameters: made once per change, shared by passes and threads, gone with the network.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

#include <atomic>
#include <sstream>
#include <thread>

namespace nn = torch::nn;
using torch::Tensor;

namespace {
const auto kHalf = torch::kHalf;
const auto kBf16 = torch::kBFloat16;
}  // namespace

TEST(AmpHalfCopies, AChangeOfAnyKindIsSeen) {
  nn::Linear layer(8, 4);
  hb::amp::auto_mixed_precision(layer, "O2", kBf16);
  const Tensor x = torch::randn({3, 8}).to(kBf16).to(torch::kFloat);
  const auto expect_fresh = [&](const char* how) {
    torch::NoGradGuard no_grad;
    const Tensor expected =
        torch::linear(x.to(kBf16), layer->weight.to(kBf16), layer->bias.to(kBf16)).to(torch::kFloat);
    EXPECT_TRUE(torch::equal(layer(x), expected)) << how;
    EXPECT_TRUE(torch::equal(layer(x), expected)) << how;
  };
  expect_fresh("at first");
  {
    torch::NoGradGuard no_grad;
    layer->weight.mul_(2);
  }
  expect_fresh("in place");
  layer->weight.data().mul_(2);
  expect_fresh("through data()");
  const Tensor alias = layer->weight.data();
  expect_fresh("with an alias");
  alias.add_(1);
  expect_fresh("through an alias that stays");
  layer->weight.detach().mul_(0.5);
  expect_fresh("through detach()");
  layer->weight.set_data(torch::randn({4, 8}));
  expect_fresh("set_data");
  layer->weight.data_ptr<float>()[0] = 5;
  expect_fresh("through a pointer");
  layer->weight.accessor<float, 2>()[1][1] = 7;
  expect_fresh("through an accessor");
  for (const char* optimizer : {"sgd", "adam"}) {
    std::unique_ptr<torch::optim::Optimizer> o;
    if (optimizer == std::string("sgd"))
      o = std::make_unique<torch::optim::SGD>(layer->parameters(), 0.5);
    else
      o = std::make_unique<torch::optim::Adam>(layer->parameters(), 0.5);
    layer(x).sum().backward();
    o->step();
    expect_fresh(optimizer);
  }
  auto other = nn::Linear(8, 4);
  std::stringstream file;
  torch::save(other, file);
  torch::load(layer, file);
  expect_fresh("load");
}

TEST(AmpHalfCopies, EvaluationBetweenDoesNotCutTheGraph) {
  nn::Linear layer(8, 4);
  hb::amp::auto_mixed_precision(layer, "O3", kHalf);
  const Tensor x = torch::randn({3, 8});
  {
    torch::InferenceMode inference;
    layer(x);
  }
  {
    torch::NoGradGuard no_grad;
    EXPECT_FALSE(layer(x).requires_grad());
  }
  layer(x).sum().backward();
  EXPECT_TRUE(layer->weight.grad().defined());
  EXPECT_EQ(hb::amp::half_copies(*layer).made, 2);
}

TEST(AmpHalfCopies, GraphsOfSeveralPassesAreApart) {
  nn::Linear layer(8, 4);
  hb::amp::auto_mixed_precision(layer, "O2", kHalf);
  const Tensor x = torch::randn({3, 8});
  const Tensor first = layer(x).sum(), second = (layer(x) * 2).sum();
  first.backward();
  const Tensor once = layer->weight.grad().clone();
  second.backward();
  EXPECT_TRUE(torch::allclose(layer->weight.grad(), once * 3));
  EXPECT_ANY_THROW(first.backward());  // its own graph is gone
  const Tensor kept = layer(x).sum();
  kept.backward({}, /*retain_graph=*/true);
  kept.backward();
  EXPECT_TRUE(torch::allclose(layer->weight.grad(), once * 5));
  // A weight that was changed since: the graph holds the copy of before.
  const Tensor old = layer(x).sum();
  {
    torch::NoGradGuard no_grad;
    layer->weight.mul_(2);
  }
  layer(x);
  old.backward();
  EXPECT_TRUE(torch::allclose(layer->weight.grad(), once * 6));
}

TEST(AmpHalfCopies, CheckpointedLayersGiveTheSameGradients) {
  for (const char* level : {"O1", "O2", "O3", "auto"}) {
    torch::manual_seed(2);
    nn::Sequential net(nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 4));
    hb::amp::auto_mixed_precision(net, level, kBf16);
    const Tensor x = torch::randn({3, 8}).requires_grad_();
    net->forward(x).to(torch::kFloat).pow(2).sum().backward();
    std::vector<Tensor> expected;
    for (const auto& p : net->parameters()) expected.push_back(p.grad().clone());
    net->zero_grad();
    const int64_t made = hb::amp::half_copies(*net).made;
    torch::checkpoint([&](const Tensor& t) { return net->forward(t); }, x).to(torch::kFloat).pow(2).sum().backward();
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(torch::equal(net->parameters()[i].grad(), expected[i])) << level;
    EXPECT_EQ(hb::amp::half_copies(*net).made, made) << level;
  }
}

TEST(AmpHalfCopies, ThreadsShareTheCopies) {
  nn::Sequential net(nn::Linear(32, 32), nn::Linear(32, 8));
  hb::amp::auto_mixed_precision(net, "O2", kBf16);
  const Tensor x = torch::randn({16, 32});
  Tensor expected;
  {
    torch::NoGradGuard no_grad;
    expected = net->forward(x);
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const Tensor y = net->forward(x);
        if (!torch::equal(y, expected)) ++wrong;
        const auto grads = torch::autograd::grad({y.to(torch::kFloat).sum()}, net->parameters());
        if (grads[0].scalar_type() != torch::kFloat) ++wrong;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(hb::amp::half_copies(*net).made, 4);
}

TEST(AmpHalfCopies, CopiesGoWithTheNet) {
  std::weak_ptr<nn::Module> gone;
  {
    nn::Linear layer(8, 4);
    hb::amp::auto_mixed_precision(layer, "O2", kHalf);
    layer(torch::randn({2, 8}));
    EXPECT_EQ(hb::amp::half_copies(*layer).bytes, (8 * 4 + 4) * 2);
    gone = layer.ptr();
  }
  EXPECT_TRUE(gone.expired());
}

// Frozen parameters and buffers are half too where all is, and are cast once.
TEST(AmpHalfCopies, FrozenParametersAndBuffers) {
  struct NetImpl : nn::Module {
    Tensor forward(const Tensor& x) {
      const Tensor y = layer(x) + shift;
      seen = y.scalar_type();
      return y;
    }
    nn::Linear layer = register_module("layer", nn::Linear(8, 8));
    Tensor shift = register_buffer("shift", torch::randn({8}));
    torch::ScalarType seen{};
  };
  nn::ModuleHolder<NetImpl> net(std::make_shared<NetImpl>());
  for (auto& p : net->parameters()) p.requires_grad_(false);
  hb::amp::auto_mixed_precision(net, "O2", kBf16);
  for (int i = 0; i < 3; ++i) net(torch::randn({2, 8}));
  EXPECT_EQ(net->seen, kBf16);
  EXPECT_EQ(hb::amp::half_copies(*net).made, 3);
}
