// hb::graph::compile of a step whose arguments are on a GPU: a CUDA graph.
#include <halfbridge/graph.h>
#include <halfbridge/halfbridge.h>

#include "software_cuda/program/beside_cpu.h"

namespace {

struct Training {
  bool seeded = (torch::manual_seed(5), true);
  nn::Sequential net{nn::Linear(6, 8), nn::ReLU(), nn::Dropout(0.3), nn::Linear(8, 3)};
  torch::optim::SGD optimizer;
  Training() : optimizer((net->to(kGpu), net->parameters()), 0.1) {}
  Tensor step(const Tensor& x, const Tensor& y, double factor) {
    optimizer.zero_grad();
    const Tensor loss = F::cross_entropy(net->forward(x), y) * factor;
    loss.backward();
    optimizer.step();
    return loss.detach();
  }
};

std::vector<Tensor> train(bool compiled, hb::graph::CompileCounts* counts = nullptr) {
  Training t;
  const auto eager = [&](Tensor x, Tensor y, double factor) { return t.step(x, y, factor); };
  auto step = hb::graph::compile(eager);
  std::vector<Tensor> seen;
  for (int i = 0; i < 24; ++i) {
    const Tensor x = values({4, 6}, torch::kFloat, i).to(kGpu), y = torch::arange(i, i + 4).remainder(3).to(kGpu);
    const double factor = i < 12 ? 1 : 1 + i % 2;  // two graphs
    if (i == 18) t.net[2]->as<nn::Dropout>()->options.p(0.6);
    seen.push_back(compiled ? step(x, y, factor) : eager(x, y, factor));
    EXPECT_TRUE(x.cpu().equal(values({4, 6}, torch::kFloat, i))) << "the argument is the program's";
  }
  for (const Tensor& p : t.net->parameters()) seen.push_back(p.detach());
  for (Tensor& v : seen) v = v.cpu();
  if (counts) *counts = step.counts();
  return seen;
}

TEST(CompiledOnGpu, EqualsEager) {
  hb::graph::CompileCounts counts;
  const auto eager = train(false), compiled = train(true, &counts);
  for (size_t i = 0; i < eager.size(); ++i) EXPECT_TRUE(eager[i].equal(compiled[i])) << i;
  EXPECT_EQ(counts.eager + counts.recorded + counts.replayed, 24);
  EXPECT_GE(counts.replayed, 11);
  EXPECT_GE(counts.recorded, 3);  // two numbers, and a dropout that was changed
}

TEST(CompiledOnGpu, WhatCannotBeRecorded) {
  const auto reads = [](Tensor x) { return x.sum().item<double>() > 0 ? x + 1 : x - 1; };
  const Tensor x = torch::ones({3}, kGpu);
  auto strict = hb::graph::compile(reads);
  strict(x), strict(x);
  EXPECT_THROW(strict(x), c10::Error);
  hb::graph::CompileOptions options;
  options.fall_back = true;
  auto lenient = hb::graph::compile(reads, options);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(lenient(i % 2 ? -x : x).cpu().equal(torch::full({3}, i % 2 ? -2.0 : 2.0)));
  EXPECT_EQ(lenient.counts().replayed, 0);
}

// A recording that fails leaves gradients as they were.
TEST(CompiledOnGpu, FailedRecordingsLeaveGradients) {
  Tensor w = torch::ones({3}, kGpu).requires_grad_();
  hb::graph::CompileOptions options;
  options.fall_back = true;
  auto step = hb::graph::compile(
      [&](Tensor x) {
        const Tensor loss = (w * x).sum();
        loss.backward();
        return loss.item<float>() > 0 ? loss.detach() : loss.detach() + 1;
      },
      options);
  for (int i = 0; i < 6; ++i) step(torch::ones({3}, kGpu));
  EXPECT_TRUE(w.grad().cpu().equal(torch::full({3}, 6.0f)));
}

// A norm on the host is waited for, which no graph can: such a step says so, or runs eagerly and writes its variable.
TEST(CompiledOnGpu, NumbersThatAreWritten) {
  Training t;
  double norm = 0;
  const auto clipped = [&](Tensor x, Tensor y) {
    t.optimizer.zero_grad();
    const Tensor loss = F::cross_entropy(t.net->forward(x), y);
    loss.backward();
    norm = nn::utils::clip_grad_norm_(t.net->parameters(), 0.5);
    t.optimizer.step();
    return loss.detach();
  };
  const Tensor x = values({4, 6}).to(kGpu), y = torch::arange(4).remainder(3).to(kGpu);
  hb::graph::CompileOptions options;
  auto strict = hb::graph::compile(clipped, options.writes(norm));
  strict(x, y), strict(x, y);
  try {
    strict(x, y);
    FAIL() << "expected an error";
  } catch (const c10::Error& e) {
    EXPECT_NE(std::string(e.what()).find("cannot be recorded"), std::string::npos) << e.what();
  }
  options.fall_back = true;
  auto lenient = hb::graph::compile(clipped, options);
  for (int i = 0; i < 5; ++i) {
    norm = -1;
    lenient(x, y);
    EXPECT_GT(norm, 0) << i;
  }
  EXPECT_EQ(lenient.counts().replayed, 0);
}

// The level's half copies of weights follow the weights, whoever looked at them before.
TEST(CompiledOnGpu, TrainingNetworks) {
  const auto run = [](bool capture) {
    Training t;
    hb::amp::TrainOneStep train(t.net, t.optimizer, nn::CrossEntropyLoss(), "O2");
    if (capture) train.capture();
    const Tensor y = torch::arange(4).remainder(3).to(kGpu);
    std::vector<Tensor> losses;
    for (int i = 0; i < 10; ++i) {
      const Tensor x = values({4, 6}, torch::kFloat, i).to(kGpu);
      if (i == 2 || i == 7) {
        t.net->eval();
        losses.push_back(train.evaluate({x}, y).loss.cpu());
        t.net->train();
      }
      losses.push_back(train(x, y).cpu());
    }
    if (capture) {
      EXPECT_GE(train.graph_counts().replayed, 5) << train.graph_counts().reason;
    }
    return torch::stack(losses);
  };
  EXPECT_TRUE(run(true).equal(run(false)));
}

}  // namespace
