// Under autocast an optimizer's rule reads the half gradients of large weights; those in float32 are written when the
// program asks for them. However it does, it sees what eager steps leave.
#include "graph/steps.h"

using namespace steps;

namespace {

struct Net : nn::Module {
  nn::Conv2d conv{nn::Conv2dOptions(32, 64, 3).padding(1)};
  nn::Linear a{256, 160}, b{160, 144}, head{144, 3};
  Net() {
    register_module("conv", conv), register_module("a", a), register_module("b", b), register_module("head", head);
  }
  Tensor forward(Tensor x) {  // (N, 32, 2, 2)
    return head(torch::relu(b(torch::relu(a(torch::relu(conv(x)).flatten(1))))));
  }
};

const MakeOptimizer kOptimizers[] = {
    [](const nn::Module& net) { return make<torch::optim::SGD>(net, torch::optim::SGDOptions(0.02)); },
    [](const nn::Module& net) {
      return make<torch::optim::SGD>(net, torch::optim::SGDOptions(0.02).momentum(0.9).weight_decay(0.01));
    },
    [](const nn::Module& net) { return make<torch::optim::AdamW>(net, torch::optim::AdamWOptions(1e-2)); },
    [](const nn::Module& net) { return make<torch::optim::RMSprop>(net, torch::optim::RMSpropOptions(1e-3)); }};

struct Trained {
  std::shared_ptr<Net> net = std::make_shared<Net>();
  std::vector<Tensor> seen;
  hb::graph::CompileCounts counts;
  std::string calls;
  size_t arena = 0;
};
/// `look(run, i)` after each step.
using Look = std::function<void(Trained& run, int i)>;

Trained train(bool captured, const Look& look = {}, MakeOptimizer make_optimizer = kOptimizers[1],
              Drop drop = Drop::first, torch::Dtype dtype = torch::kBFloat16,
              const hb::graph::CompileOptions& options = {}) {
  torch::manual_seed(17);
  Trained run;
  const Optimizer optimizer = make_optimizer(*run.net);
  const auto step = [&](Tensor x, Tensor y) {
    if (drop == Drop::first) optimizer->zero_grad();
    Tensor loss;
    {
      const torch::autocast guard(torch::kCPU, dtype);
      loss = torch::mse_loss(run.net->forward(x), y);
    }
    loss.backward();
    optimizer->step();
    if (drop == Drop::last) optimizer->zero_grad();
    return loss;
  };
  auto compiled = hb::graph::compile(step, options);
  for (int i = 0; i < 60; ++i) {
    const Tensor x = torch::randn({5, 32, 2, 2}), y = torch::randn({5, 3});
    if (drop == Drop::outside) optimizer->zero_grad();
    run.seen.push_back((captured ? compiled(x, y) : step(x, y)).detach().clone());
    if (look) look(run, i);
  }
  for (const Tensor& t : state_of(*run.net)) run.seen.push_back(t);
  run.counts = compiled.counts(), run.calls = compiled.print(), run.arena = compiled.arena_bytes();
  return run;
}

void see(Trained& run, const Tensor& t) { run.seen.push_back(t.detach().clone()); }

void expect_same(const Look& look) {
  const Trained eager = train(false, look), graph = train(true, look);
  EXPECT_GE(graph.counts.replayed, 50) << graph.counts.reason;
  EXPECT_NE(graph.calls.find("later"), std::string::npos);
  EXPECT_TRUE(same_state(eager.seen, graph.seen));
}

}  // namespace

TEST(GraphHalfGradients, ChangeNoBit) {
  for (const MakeOptimizer optimizer : kOptimizers)
    for (const Drop drop : {Drop::first, Drop::last, Drop::outside})
      for (const torch::Dtype dtype : {torch::kBFloat16, torch::kHalf}) {
        const Trained eager = train(false, {}, optimizer, drop, dtype), graph = train(true, {}, optimizer, drop, dtype);
        EXPECT_GE(graph.counts.replayed, 50) << graph.counts.reason;
        EXPECT_TRUE(same_state(eager.seen, graph.seen)) << static_cast<int>(drop);
      }
}

// conv, a and b have 16384 elements or more. Where the step itself drops its gradients nobody can see those in float32.
TEST(GraphHalfGradients, AreReadByTheRule) {
  const auto late = [](const Trained& run) {
    int count = 0;
    for (size_t at = 0; (at = run.calls.find("later", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  const Trained first = train(true), last = train(true, {}, kOptimizers[1], Drop::last),
                outside = train(true, {}, kOptimizers[1], Drop::outside);
  EXPECT_EQ(late(first), 3);
  EXPECT_EQ(late(last), 0);
  EXPECT_EQ(late(outside), 0);
  hb::graph::CompileOptions written;
  written.late_gradients = false;
  EXPECT_EQ(late(train(true, {}, kOptimizers[1], Drop::first, torch::kBFloat16, written)), 0);
  written.consume_gradients = false;
  const Trained apart = train(true, {}, kOptimizers[1], Drop::last, torch::kBFloat16, written);
  EXPECT_LT(last.arena + size_t{2 * 64 * 32 * 9}, apart.arena);
}

TEST(GraphHalfGradients, AreThereInFloatWhenTheProgramLooks) {
  expect_same([](Trained& run, int i) {
    if (i % 3 != 1) return;
    for (const Tensor& p : run.net->parameters()) see(run, p.grad());
  });
  expect_same([](Trained& run, int i) {
    if (i % 5 == 2) see(run, run.net->b->weight.grad().t().slice(0, 3, 20).matmul(run.net->b->weight.grad()));
  });
}

TEST(GraphHalfGradients, StayWhatTheyWereForWhoHoldsThem) {
  std::vector<Tensor> held[2];
  for (const bool captured : {false, true})
    train(captured, [&](Trained& run, int i) {
      if (i % 9 == 5) held[captured].push_back(run.net->parameters()[i % 8].grad());
      if (i % 9 == 7) held[captured].push_back(run.net->a->weight.grad().slice(1, 2, 50));
    });
  EXPECT_TRUE(same_state(held[0], held[1]));
}

TEST(GraphHalfGradients, MayBeChangedByTheProgram) {
  expect_same([](Trained& run, int i) {
    const torch::NoGradGuard no_grad;
    if (i % 7 == 3) run.net->conv->weight.grad().mul_(2), see(run, run.net->conv->weight.grad());
  });
}

// The gradients of weights that read the same input and whose results are added are one value of the graph.
TEST(GraphHalfGradients, OfTwinsAreReadByBoth) {
  const auto train_twins = [](bool captured, bool half, int64_t batch) {
    torch::manual_seed(23);
    nn::Linear a(256, 256), b(256, 256);
    std::vector<Tensor> parameters = a->parameters();
    for (const Tensor& p : b->parameters()) parameters.push_back(p);
    torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(0.02).momentum(0.9));
    const auto step = [&](Tensor x) {
      Tensor loss;
      {
        const torch::autocast guard(torch::kCPU, torch::kBFloat16, half);
        loss = (a(x) + b(x)).pow(2).mean();
      }
      loss.backward();
      optimizer.step();
      optimizer.zero_grad();
      return loss;
    };
    auto compiled = hb::graph::compile(step);
    std::vector<Tensor> seen;
    for (int i = 0; i < 20; ++i) {
      const Tensor x = torch::randn({batch, 256});
      seen.push_back((captured ? compiled(x) : step(x)).detach().clone());
    }
    if (captured) {
      EXPECT_GE(compiled.counts().replayed, 10) << compiled.counts().reason;
    }
    for (const Tensor& p : parameters) seen.push_back(p.detach().clone());
    return seen;
  };
  for (const bool half : {false, true})
    for (const int64_t batch : {1, 4})
      EXPECT_TRUE(same_state(train_twins(false, half, batch), train_twins(true, half, batch))) << half << batch;
}
