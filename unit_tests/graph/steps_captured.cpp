// Captured steps beside replay.cpp: training networks, explicit gradients, passes, memory, what counts() says.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "graph/steps.h"

using namespace steps;

namespace {

struct Trained {
  std::vector<Tensor> seen;
  hb::graph::CompileCounts counts;
};

/// A training network in `level`, with an input that overflows once.
Trained train_network(const std::string& level, bool captured, int64_t accumulate) {
  torch::manual_seed(3);
  nn::Sequential net(nn::Conv2d(1, 4, 3), nn::BatchNorm2d(4), nn::ReLU(), nn::Flatten(), nn::Dropout(0.2),
                     nn::Linear(144, 5));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  hb::amp::TrainOneStep step(net, optimizer, nn::CrossEntropyLoss(), level,
                             std::make_shared<hb::amp::DynamicLossScaleManager>(1024, 2, 3),
                             hb::amp::LevelOptions().dtype(torch::kHalf));
  step.accumulate(accumulate);
  step.clip_gradients(1.0);
  if (captured) step.capture();
  Trained result;
  for (int i = 0; i < 16; ++i) {
    Tensor x = torch::randn({3, 1, 8, 8}), y = torch::randint(5, {3}, torch::kLong);
    if (i == 11) x.mul_(INFINITY);
    const auto done = step.construct({x}, y);
    for (const Tensor& t : {done.loss, done.overflow, torch::tensor(done.updated), done.outputs.at(0)})
      result.seen.push_back(t.defined() ? t.detach() : t);
  }
  for (const Tensor& t : state_of(*net)) result.seen.push_back(t);
  result.seen.push_back(torch::tensor(step.loss_scale()));
  result.counts = step.graph_counts();
  return result;
}

Tensor long_chain(Tensor x) {
  for (int i = 0; i < 3; ++i) x = torch::tanh(x * 1.25 + 0.5) - x.sigmoid();
  return x;
}

}  // namespace

TEST(GraphTraining, NetworksOfTheTrainingLayer) {
  for (const char* level : {"O0", "O1", "O2", "O3", "auto"}) {
    for (const int64_t accumulate : {1, 2}) {
      SCOPED_TRACE(level);
      const Trained eager = train_network(level, false, accumulate), graph = train_network(level, true, accumulate);
      EXPECT_TRUE(same_state(eager.seen, graph.seen)) << graph.counts.reason;
      // The step that updates is recorded once more: the other one's first replay has put the gradients elsewhere.
      EXPECT_GE(graph.counts.replayed, accumulate == 1 ? 13 : 6) << graph.counts.reason;
      EXPECT_EQ(eager.counts.replayed, 0);
    }
  }
}

TEST(GraphTraining, ExplicitGradients) {
  std::vector<Tensor> seen[2];
  for (const bool captured : {false, true}) {
    torch::manual_seed(5);
    const World w = mlp();
    torch::optim::Adam optimizer(w.net->parameters(), torch::optim::AdamOptions(0.01));
    const auto step = [&](Tensor x, Tensor y) {
      auto [loss, grads] = torch::value_and_grad([&] { return w.loss(w.forward(x), y); }, w.net->parameters())();
      optimizer.step(grads);
      return std::make_tuple(loss, grads[0]);
    };
    auto compiled = hb::graph::compile(step);
    for (int i = 0; i < 8; ++i) {
      const auto [x, y] = w.batch();
      const auto [loss, grad] = captured ? compiled(x, y) : step(x, y);
      seen[captured].push_back(loss.detach());
      seen[captured].push_back(grad);
    }
    for (const Tensor& t : state_of(*w.net)) seen[captured].push_back(t);
    if (captured) {
      EXPECT_EQ(compiled.counts().replayed, 5) << compiled.counts().reason;
    }
  }
  EXPECT_TRUE(same_state(seen[0], seen[1]));
}

// Sizes around those from which chains are run block by block, with each pass off and on.
TEST(GraphPasses, ChangeNoBit) {
  torch::NoGradGuard no_grad;
  const int64_t least = 32768 * torch::get_num_threads();
  for (const auto dtype : {torch::kFloat, torch::kBFloat16, torch::kDouble}) {
    for (const int64_t n : {int64_t{100}, least - 1, least, least + 4097, 3 * least + 13}) {
      const Tensor x = torch::randn({n}, dtype), expected = long_chain(x);
      for (int passes = 0; passes < 8; ++passes) {
        hb::graph::CompileOptions options;
        options.plan_memory = passes & 1, options.drop_dead = passes & 2, options.fuse = passes & 4;
        auto step = hb::graph::compile(long_chain, options);
        for (int i = 0; i < 3; ++i) step(x);
        EXPECT_TRUE(same_bits(step(x), expected)) << n << " " << passes;
        EXPECT_EQ(step.counts().replayed, 1) << step.counts().reason;
        const bool chained = step.print().find("chain") != std::string::npos;
        EXPECT_EQ(chained, options.fuse && n >= least) << step.print();
        if (chained) {
          EXPECT_EQ(step.arena_bytes(), 0u);
        }
      }
    }
  }
}

TEST(GraphPasses, DropWhatNobodyReads) {
  torch::NoGradGuard no_grad;
  hb::graph::CompileOptions plain;
  plain.drop_dead = plain.fuse = false;
  const auto step = [](Tensor x) {
    Tensor unused = torch::matmul(x, x).exp();
    return x + 1;
  };
  auto whole = hb::graph::compile(step, plain), less = hb::graph::compile(step);
  for (int i = 0; i < 3; ++i) whole(torch::ones({4, 4})), less(torch::ones({4, 4}));
  EXPECT_NE(whole.print().find("exp"), std::string::npos);
  EXPECT_EQ(less.print().find("exp"), std::string::npos);
  EXPECT_EQ(less.print().find("matmul"), std::string::npos);
}

TEST(GraphPasses, WhatIsComputedTwiceIsComputedOnce) {
  torch::NoGradGuard no_grad;
  Tensor k = torch::ones({8, 8});
  const auto step = [&](Tensor x) {
    Tensor a = torch::matmul(x, k).exp(), b = torch::matmul(x, k).exp();
    Tensor c = x.mul(2), d = x.mul(3);
    k.add_(1);
    Tensor e = torch::matmul(x, k).exp();  // of other values
    return a + b * 2 + c - d + e + torch::rand({8, 8}) - torch::rand({8, 8});
  };
  hb::graph::CompileOptions apart;
  apart.share_common = false;
  std::vector<Tensor> seen[3];
  for (int way = 0; way < 3; ++way) {
    torch::manual_seed(4);
    k.fill_(1);
    auto compiled = hb::graph::compile(step, way == 1 ? hb::graph::CompileOptions() : apart);
    for (int i = 0; i < 6; ++i) {
      const Tensor x = torch::randn({8, 8}) * 0.1;
      seen[way].push_back(way == 0 ? step(x) : compiled(x));
    }
    if (way == 0) continue;
    int products = 0;
    for (size_t at = 0; (at = compiled.print().find("matmul", at)) != std::string::npos; ++at) ++products;
    EXPECT_EQ(products, way == 1 ? 2 : 3) << compiled.print();
    EXPECT_EQ(compiled.counts().replayed, 3) << compiled.counts().reason;
  }
  EXPECT_TRUE(same_state(seen[0], seen[1]));
  EXPECT_TRUE(same_state(seen[0], seen[2]));
}

// Values that do not live at once share their place, and an element-wise result takes its operand's.
TEST(GraphMemory, TemporaryValuesShareABlock) {
  torch::NoGradGuard no_grad;
  const auto step = [](Tensor x) {
    for (int i = 0; i < 10; ++i) x = torch::matmul(x, x).tanh();
    return x.sum();
  };
  hb::graph::CompileOptions plain;
  plain.plan_memory = false;
  auto apart = hb::graph::compile(step, plain), planned = hb::graph::compile(step);
  const Tensor x = torch::randn({64, 64});
  for (int i = 0; i < 3; ++i) apart(x), planned(x);
  const size_t one = 64 * 64 * 4;
  EXPECT_GE(apart.arena_bytes(), 20 * one);
  EXPECT_LE(planned.arena_bytes(), 3 * one);
  EXPECT_TRUE(same_bits(apart(x), planned(x)));
}

TEST(GraphMemory, ReplaysAllocateNothingThatIsNotHeld) {
  const World w = mlp();
  torch::optim::SGD optimizer(w.net->parameters(), 0.1);
  auto step = hb::graph::compile([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = w.loss(w.forward(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
  const auto [x, y] = w.batch();
  for (int i = 0; i < 5; ++i) step(x, y);
  const Tensor grad = w.net->parameters()[0].grad();
  const void* const place = grad.data_ptr();
  const size_t before = hb::memory_in_use();
  std::vector<Tensor> losses;
  for (int i = 0; i < 4; ++i) losses.push_back(step(x, y));
  // The gradient that is held keeps the block in which all of them lie.
  EXPECT_LE(hb::memory_in_use(), before + 4 * 256 + 2 * grad.nbytes() + 2 * step.arena_bytes());
  const size_t then = hb::memory_in_use();
  const Tensor next = w.net->parameters()[0].grad();
  step(x, y);
  EXPECT_LE(hb::memory_in_use(), then + 2 * grad.nbytes());
  EXPECT_NE(losses[0].item<float>(), losses[3].item<float>());
  EXPECT_NE(w.net->parameters()[0].grad().data_ptr(), place);  // which `grad` holds
}

TEST(GraphPage, ShowsCallsAndPlaces) {
  torch::NoGradGuard no_grad;
  auto step = hb::graph::compile([](Tensor x) { return torch::matmul(x, x).exp().sum(); });
  EXPECT_THROW(step.save_page("graph.html"), c10::Error);
  for (int i = 0; i < 3; ++i) step(torch::ones({8, 8}));
  const std::string file = ::testing::TempDir() + "graph.html";
  step.save_page(file, 2);
  EXPECT_EQ(step(torch::zeros({8, 8})).item<float>(), 64);
  EXPECT_FALSE(std::ifstream(file).good());
  step(torch::ones({8, 8}));
  std::stringstream page;
  page << std::ifstream(file).rdbuf();
  for (const char* part : {"<svg", "<rect", "matmul", "exp", "256 bytes", "</html>"})
    EXPECT_NE(page.str().find(part), std::string::npos) << part;
  std::remove(file.c_str());
}

TEST(GraphCounts, SayWhatBecameOfCalls) {
  torch::NoGradGuard no_grad;
  hb::graph::CompileOptions two;
  two.max_graphs = 2;
  auto step = hb::graph::compile([](Tensor x) { return x * 2; }, two);
  for (int i = 0; i < 10; ++i) step(torch::ones({1 + i % 2}));
  EXPECT_EQ(step.counts().recorded, 2);
  EXPECT_EQ(step.counts().replayed, 4);
  EXPECT_EQ(step.counts().compared, 2);
  EXPECT_EQ(step.counts().eager, 6);
  step(torch::ones({3}));  // the third graph takes the first one's place
  EXPECT_EQ(step.counts().recorded, 3);
  step(torch::ones({1}));
  EXPECT_EQ(step.counts().recorded, 4);
  EXPECT_EQ(step.counts().reason, "recorded");
  step.reset();
  EXPECT_EQ(step.counts().eager, 0);
  EXPECT_TRUE(step.print().empty());
}

TEST(GraphCounts, AStepThatAlwaysDiffersRunsEagerly) {
  torch::NoGradGuard no_grad;
  auto step = hb::graph::compile([](Tensor x, double k) { return x * k; });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(step(torch::ones({1}), double(i)).item<float>(), float(i));
  EXPECT_LT(step.counts().recorded, 12);
  EXPECT_EQ(step.counts().reason, "a number among the arguments");
}

TEST(GraphCounts, FallsBackWhereAsked) {
  hb::graph::CompileOptions options;
  options.fall_back = true;
  int calls = 0;
  auto step = hb::graph::compile([&](Tensor x) { return ++calls, x * x.sum().item<float>(); }, options);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(step(torch::ones({2}))[0].item<float>(), 2);
  EXPECT_EQ(calls, 9);
  EXPECT_NE(step.counts().reason.find("[item]"), std::string::npos) << step.counts().reason;
}
