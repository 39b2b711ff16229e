// Recorded graphs: of streams (CUDAGraph) and of whole training steps (graphed), beside what runs eagerly.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <halfbridge/graphed.h>

#include <optional>

#include "mnist_mlp/mlp.h"
#include "resnet34/resnet34.h"
#include "software_cuda/program/beside_cpu.h"
#include "software_cuda/program/control.h"

namespace {

/// Records on a stream from the pool.
void record(at::cuda::CUDAGraph& graph, const std::function<void()>& work, at::cuda::MempoolId_t pool = {0, 0}) {
  const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
  graph.capture_begin(pool);
  work();
  graph.capture_end();
}

TEST(CudaGraph, ReplaysOnTheSameMemory) {
  Tensor x = torch::ones({64}, kGpu), y;
  at::cuda::CUDAGraph graph;
  record(graph, [&] { y = (x * 2).relu() + x.sum(); });
  torch::cuda::synchronize();
  control().reset_counts();
  for (int i = 1; i < 4; ++i) {
    x.fill_(i);
    graph.replay();
    EXPECT_TRUE(y.cpu().equal(torch::full({64}, i * 66.0))) << i;
  }
  if (!counted()) return;
  EXPECT_EQ(control().counts().graph_launches, 3u);
  EXPECT_EQ(control().counts().launches, 3u);  // of fill_
}

TEST(CudaGraph, MemoryIsKeptApart) {
  Tensor x = torch::ones({1000}, kGpu), y;
  at::cuda::CUDAGraph first, second;
  record(first, [&] {
    const Tensor between = x + 1;
    y = between * 2;
  });
  Tensor z;
  record(
      second, [&] { z = y + x; }, first.pool());
  // What is made outside must not land where the graphs write.
  std::vector<Tensor> outside;
  for (int i = 0; i < 8; ++i) outside.push_back(torch::full({1000}, 7.0, kGpu));
  first.replay();
  second.replay();
  EXPECT_TRUE(z.cpu().equal(torch::full({1000}, 5.0)));
  for (const Tensor& t : outside) EXPECT_TRUE(t.cpu().equal(torch::full({1000}, 7.0)));
  first.reset();
  second.reset();
  EXPECT_TRUE(z.cpu().equal(torch::full({1000}, 5.0)));  // tensors keep their memory
  EXPECT_THROW(first.replay(), c10::Error);
}

TEST(CudaGraph, RandomNumbersMoveOn) {
  const auto draw = [](bool recorded) {
    torch::manual_seed(3);
    std::vector<Tensor> seen;
    Tensor x = torch::zeros({100}, kGpu);
    at::cuda::CUDAGraph graph;
    if (recorded) record(graph, [&] { x.uniform_(), x.add_(torch::randn({100}, kGpu)); });
    for (int i = 0; i < 3; ++i) {
      recorded ? graph.replay() : void((x.uniform_(), x.add_(torch::randn({100}, kGpu))));
      seen.push_back(x.cpu());
      if (i == 1) seen.push_back(torch::rand({5}, kGpu).cpu());  // eager ones between
    }
    return seen;
  };
  const auto eager = draw(false), graph = draw(true);
  for (size_t i = 0; i < eager.size(); ++i) EXPECT_TRUE(eager[i].equal(graph[i])) << i;
  EXPECT_FALSE(graph[0].equal(graph[1]));
}

TEST(CudaGraph, WhatCannotBeRecordedThrows) {
  const Tensor x = torch::ones({4}, kGpu);
  at::cuda::CUDAGraph graph;
  EXPECT_THROW(graph.capture_begin(), c10::Error);  // on the default stream
  {
    at::cuda::CUDAGraph waits;
    EXPECT_THROW(record(waits, [&] { x.sum().item(); }), c10::Error);
  }
  EXPECT_THROW(graph.replay(), c10::Error);
  EXPECT_EQ((x + 1).sum().item<double>(), 8);  // all goes on
}

// --- whole steps

struct ConvNetImpl : nn::Module {
  nn::Conv2d first{register_module("first", nn::Conv2d(nn::Conv2dOptions(2, 4, 3).bias(false)))};
  nn::BatchNorm2d norm{register_module("norm", nn::BatchNorm2d(4))};
  nn::Conv2d second{register_module("second", nn::Conv2d(nn::Conv2dOptions(4, 4, 3).padding(1)))};
  nn::Linear last{register_module("last", nn::Linear(4, 5))};
  Tensor forward(const Tensor& x) {
    const Tensor y = torch::relu(norm(first(x)));
    return last(torch::dropout(torch::relu(second(y) + y).mean({2, 3}), 0.25, is_training()));
  }
};
struct MlpImpl : nn::Module {
  nn::Linear a{register_module("a", nn::Linear(72, 16))}, b{register_module("b", nn::Linear(16, 5))};
  Tensor forward(const Tensor& x) { return b(torch::dropout(torch::relu(a(x.flatten(1))), 0.25, is_training())); }
};
struct GptImpl : nn::Module {
  nn::Embedding tokens{register_module("tokens", nn::Embedding(17, 16))};
  nn::LayerNorm norm{register_module("norm", nn::LayerNorm(nn::LayerNormOptions({16})))};
  nn::Linear qkv{register_module("qkv", nn::Linear(16, 48))}, out{register_module("out", nn::Linear(16, 16))};
  nn::Linear head{register_module("head", nn::Linear(16, 5))};
  Tensor forward(const Tensor& x) {
    const Tensor ids = (x.flatten(1).narrow(1, 0, 12).abs() * 8).to(torch::kLong).clamp(0, 16);
    Tensor h = tokens(ids) * x.mean();
    const auto parts = qkv(norm(h)).view({x.size(0), 12, 3, 2, 8}).permute({2, 0, 3, 1, 4}).unbind(0);
    const Tensor y = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0, true);
    h = h + torch::gelu(out(y.transpose(1, 2).reshape({x.size(0), 12, 16})));
    return head(h).mean(1);
  }
};

// cuDNN's recurrent network, with dropout between its layers.
struct LstmImpl : nn::Module {
  nn::LSTM lstm{register_module("lstm", nn::LSTM(nn::LSTMOptions(6, 8).num_layers(2).batch_first(true).dropout(0.25)))};
  nn::Linear head{register_module("head", nn::Linear(8, 5))};
  Tensor forward(const Tensor& x) { return head(std::get<0>(lstm(x.flatten(1, 2))).mean(1)); }
};
// The networks of the examples.
struct ExampleMlp : nn::Module {
  Mlp net{register_module("net", Mlp())};
  Tensor forward(const Tensor& x) { return net(x.flatten(1).repeat({1, 11}).narrow(1, 0, 784)); }
};
struct NarrowResNet34 : nn::Module {
  ResNet34 net{register_module("net", ResNet34(/*cifar=*/true, /*width=*/4, /*classes=*/5))};
  Tensor forward(const Tensor& x) { return net(x.narrow(1, 0, 1)); }
};

struct Outcome {
  std::vector<Tensor> losses, state;
  hb::graph::CompileCounts counts;
};

/// 50 steps with a learning rate that changes and, in half, an overflow.
template <class Net>
Outcome train(bool half, bool adam, bool graphed) {
  torch::manual_seed(11);
  Net net;
  net.to(kGpu);
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  if (adam)
    optimizer = std::make_unique<torch::optim::AdamW>(net.parameters(), torch::optim::AdamWOptions(1e-2));
  else
    optimizer = std::make_unique<torch::optim::SGD>(net.parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  torch::amp::GradScaler scaler("cuda", hb::amp::GradScalerOptions().init_scale(1024).growth_interval(7).enabled(half));
  const auto step = [&](const Tensor& x, const Tensor& y) {
    optimizer->zero_grad();
    Tensor loss;
    {
      std::optional<torch::autocast> guard;
      if (half) guard.emplace(torch::kCUDA, torch::kHalf);
      loss = F::cross_entropy(net.forward(x), y);
    }
    scaler.scale(loss).backward();
    scaler.step(*optimizer);
    scaler.update();
    return loss.detach();
  };
  auto recorded = hb::cuda::graphed(step);
  Outcome o;
  for (int i = 0; i < 50; ++i) {
    Tensor x = values({6, 2, 6, 6}, torch::kFloat, i);
    if (half && (i == 1 || i == 20)) x[0][0][0][0] = INFINITY;
    const Tensor y = torch::arange(i, i + 6).remainder(5);
    for (auto& group : optimizer->param_groups()) group.options().set_lr(0.01 / (1 + i % 5));
    const Tensor gx = x.to(kGpu), gy = y.to(kGpu);
    o.losses.push_back(graphed ? recorded(gx, gy) : step(gx, gy));
  }
  for (Tensor& t : o.losses) t = t.cpu();
  for (const Tensor& p : net.parameters()) o.state.push_back(p.detach().cpu()), o.state.push_back(p.grad().cpu());
  for (const Tensor& b : net.buffers()) o.state.push_back(b.cpu());
  o.counts = recorded.counts();
  return o;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() &&
         std::memcmp(a.contiguous().data_ptr(), b.contiguous().data_ptr(), a.nbytes()) == 0;
}
template <class Net>
void expect_same_steps(bool half, bool adam) {
  const DeterministicConvolutions deterministic;
  const Outcome eager = train<Net>(half, adam, false), graph = train<Net>(half, adam, true);
  EXPECT_EQ(graph.counts.eager, 2);
  EXPECT_EQ(graph.counts.recorded, 1) << graph.counts.reason;
  EXPECT_EQ(graph.counts.replayed, 47);
  for (size_t i = 0; i < eager.losses.size(); ++i)
    EXPECT_TRUE(same_bits(eager.losses[i], graph.losses[i]))
        << "loss " << i << ": " << eager.losses[i].item<float>() << " and " << graph.losses[i].item<float>();
  for (size_t i = 0; i < eager.state.size(); ++i)
    EXPECT_TRUE(same_bits(eager.state[i], graph.state[i])) << "tensor " << i;
}

TEST(GraphedSteps, MlpEqualsEager) {
  expect_same_steps<MlpImpl>(false, false), expect_same_steps<MlpImpl>(false, true);
}
TEST(GraphedSteps, MlpInHalfWithOverflows) { expect_same_steps<MlpImpl>(true, true); }
TEST(GraphedSteps, ConvolutionsEqualEager) { expect_same_steps<ConvNetImpl>(false, false); }
TEST(GraphedSteps, ConvolutionsInHalfWithOverflows) { expect_same_steps<ConvNetImpl>(true, false); }
TEST(GraphedSteps, GptEqualsEager) { expect_same_steps<GptImpl>(false, true); }
TEST(GraphedSteps, GptInHalfWithOverflows) { expect_same_steps<GptImpl>(true, true); }

TEST(GraphedSteps, MlpOfTheExamplesEqualsEager) { expect_same_steps<ExampleMlp>(false, false); }
TEST(GraphedSteps, MlpOfTheExamplesInHalf) { expect_same_steps<ExampleMlp>(true, false); }
TEST(GraphedSteps, ResNet34EqualsEager) { expect_same_steps<NarrowResNet34>(false, false); }
TEST(GraphedSteps, ResNet34InHalfWithOverflows) { expect_same_steps<NarrowResNet34>(true, false); }
TEST(GraphedSteps, LstmEqualsEager) { expect_same_steps<LstmImpl>(false, true); }
TEST(GraphedSteps, LstmInHalfWithOverflows) { expect_same_steps<LstmImpl>(true, true); }

TEST(GraphedSteps, OneLaunchAStep) {
  MlpImpl net;
  net.to(kGpu);
  torch::optim::SGD optimizer(net.parameters(), 0.1);
  auto step = hb::cuda::graphed([&](const Tensor& x, const Tensor& y) {
    optimizer.zero_grad();
    const Tensor loss = F::cross_entropy(net.forward(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
  const Tensor x = values({6, 2, 6, 6}).to(kGpu), y = torch::arange(6).remainder(5).to(kGpu);
  for (int i = 0; i < 4; ++i) step(x, y);
  torch::cuda::synchronize();
  NEEDS_COUNTS();
  control().reset_counts();
  step(x, y);
  const auto c = control().counts();
  EXPECT_EQ(c.graph_launches, 1u);
  EXPECT_EQ(c.launches + c.library_calls, 0u);
  EXPECT_EQ(c.synchronisations + c.copies_to_host + c.copies_from_host, 0u);
  EXPECT_EQ(c.copies_on_device, 3u);  // the batch in, the loss out
}

// What the program changes between calls is seen, or recorded again.
TEST(GraphedSteps, FollowThePrograms) {
  nn::Linear net(4, 1);
  net->to(kGpu);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  int made = 0;
  auto step = hb::cuda::graphed([&](const Tensor& x) {
    ++made;
    optimizer.zero_grad();
    const Tensor loss = net(x).square().mean();
    loss.backward();
    optimizer.step();
    return loss;
  });
  const Tensor x = values({3, 4}).to(kGpu);
  for (int i = 0; i < 4; ++i) step(x);
  EXPECT_EQ(made, 3);
  const Tensor held = step(x), before = held.cpu();
  step(x);
  EXPECT_TRUE(held.cpu().equal(before));  // a result stays as it is
  {
    torch::NoGradGuard guard;
    net->weight.zero_(), net->bias.fill_(2);  // in place: read by the next launch
  }
  EXPECT_EQ(step(x).item<float>(), 4);
  EXPECT_EQ(made, 3);
  net->weight.set_data(torch::zeros({1, 4}, kGpu));  // other memory: recorded again
  net->bias.set_data(torch::full({1}, 3.0, kGpu));
  EXPECT_EQ(step(x).item<float>(), 9);
  EXPECT_EQ(made, 4);
  step(values({5, 4}).to(kGpu));  // another shape
  EXPECT_EQ(made, 5);
  step(x), step(values({5, 4}).to(kGpu));
  EXPECT_EQ(made, 5);
  EXPECT_THROW(step(values({5, 4})), c10::Error);  // not on the GPU
}

TEST(GraphedSteps, RefuseWhatTheHostReads) {
  auto step = hb::cuda::graphed([&](const Tensor& x) { return x.sum().item<double>() > 0 ? x + 1 : x; });
  const Tensor x = torch::ones({3}, kGpu);
  step(x), step(x);
  EXPECT_THROW(step(x), c10::Error);
  EXPECT_EQ((x + 1).sum().item<double>(), 6);  // all goes on
}

}  // namespace
