// Where captured steps keep gradients, and when they update parameters: neither changes a bit.
#include <cmath>

#include "graph/steps.h"

using namespace steps;

namespace {

/// Two layers whose weights are large enough to be updated by themselves; the second is used twice.
World wide(int64_t batch) {
  struct Wide : nn::Module {
    nn::Linear a{160, 160}, b{160, 160}, head{160, 4};
    Wide() { register_module("a", a), register_module("b", b), register_module("head", head); }
    Tensor forward(Tensor x) { return head(torch::tanh(b(torch::relu(b(torch::relu(a(x))))))); }
  };
  World w;
  auto net = std::make_shared<Wide>();
  w.net = net;
  w.forward = [n = net.get()](Tensor x) { return n->forward(std::move(x)); };
  w.loss = [](Tensor out, Tensor target) { return torch::mse_loss(out, target); };
  w.batch = [batch] { return std::make_pair(torch::randn({batch, 160}), torch::randn({batch, 4})); };
  return w;
}

Optimizer sgd(const nn::Module& net) {
  return std::make_shared<torch::optim::SGD>(net.parameters(), torch::optim::SGDOptions(0.02).momentum(0.9));
}
Optimizer adam(const nn::Module& net) {
  return std::make_shared<torch::optim::Adam>(net.parameters(), torch::optim::AdamOptions(1e-2));
}
Optimizer asgd(const nn::Module& net) {  // carries a number from step to step
  return std::make_shared<torch::optim::ASGD>(net.parameters(), torch::optim::ASGDOptions(1e-2).t0(3));
}

struct Training {
  int64_t batch = 1;
  MakeOptimizer make = sgd;
  bool drops_at_end = false, clips = false, overflows = false;
};
struct Left {
  std::vector<Tensor> state;
  size_t arena = 0;
  int64_t replayed = 0;
};

Left train(const Training& run, bool captured, const hb::graph::CompileOptions& options = {}) {
  torch::manual_seed(11);
  const World w = wide(run.batch);
  const Optimizer optimizer = run.make(*w.net);
  torch::amp::GradScaler scaler(torch::kCPU, 16.0, 2.0, 0.5, 4);
  const auto step = [&](Tensor x, Tensor y) {
    if (!run.drops_at_end) optimizer->zero_grad();
    Tensor loss = w.loss(w.forward(x), y);
    if (run.overflows) {
      scaler.scale(loss).backward();
      scaler.step(*optimizer);
      scaler.update();
    } else {
      loss.backward();
      // Reads a parameter whose gradient is there.
      loss = loss.detach() + w.net->parameters()[0].detach().square().sum();
      if (run.clips) nn::utils::clip_grad_norm_(w.net->parameters(), 0.01);
      optimizer->step();
    }
    if (run.drops_at_end) optimizer->zero_grad();
    return loss;
  };
  auto compiled = hb::graph::compile(step, options);
  Left left;
  for (int i = 0; i < 25; ++i) {
    auto [x, y] = w.batch();
    if (run.overflows && i % 7 == 5) y.fill_(1e38);
    for (auto& group : optimizer->param_groups()) group.options().set_lr(0.02 / (1 + i / 8));
    left.state.push_back((captured ? compiled(x, y) : step(x, y)).detach());
  }
  for (const Tensor& t : state_of(*w.net)) left.state.push_back(t);
  left.arena = compiled.arena_bytes(), left.replayed = compiled.counts().replayed;
  return left;
}

}  // namespace

TEST(GraphGradients, EarlyUpdatesChangeNoBit) {
  hb::graph::CompileOptions late;
  late.update_early = false;
  for (const int64_t batch : {1, 5})
    for (const MakeOptimizer make : {sgd, adam, asgd})
      for (const bool drops_at_end : {false, true})
        for (const int kind : {0, 1, 2}) {
          const Training run{batch, make, drops_at_end, kind == 1, kind == 2};
          const Left eager = train(run, false), early = train(run, true);
          EXPECT_GE(early.replayed, 18);
          EXPECT_TRUE(same_state(eager.state, early.state)) << "batch " << batch << " kind " << kind;
          if (make != sgd) continue;
          EXPECT_TRUE(same_state(eager.state, train(run, true, late).state));
        }
}

TEST(GraphGradients, ThatAreDroppedTakeNoMemoryOfTheirOwn) {
  constexpr int64_t kWidth = 160, kWeight = kWidth * kWidth * 4;
  size_t bytes[2];
  for (const bool early : {false, true}) {
    nn::Sequential net;
    for (int i = 0; i < 5; ++i) net->push_back(nn::Linear(kWidth, kWidth));
    const Optimizer optimizer = sgd(*net);
    hb::graph::CompileOptions options;
    options.update_early = early;
    auto step = hb::graph::compile(
        [&](Tensor x) {
          net->forward(x).square().mean().backward();
          optimizer->step();
          optimizer->zero_grad();
        },
        options);
    for (int i = 0; i < 5; ++i) step(torch::randn({2, kWidth}));
    EXPECT_EQ(step.counts().replayed, 2) << step.counts().reason;
    bytes[early] = step.arena_bytes();
  }
  EXPECT_GE(bytes[0], size_t{5 * kWeight});
  EXPECT_LE(bytes[1], size_t{kWeight + kWeight / 2});
}

TEST(GraphGradients, ThatTheProgramHoldsKeepTheirValues) {
  std::vector<Tensor> seen[2];
  for (const bool captured : {false, true}) {
    torch::manual_seed(13);
    const World w = wide(3);
    const Optimizer optimizer = sgd(*w.net);
    const auto step = [&](Tensor x, Tensor y) {
      optimizer->zero_grad();
      Tensor loss = w.loss(w.forward(x), y);
      loss.backward();
      optimizer->step();
      return loss;
    };
    auto compiled = hb::graph::compile(step);
    const auto parameters = w.net->parameters();
    std::vector<Tensor> held;
    for (int i = 0; i < 20; ++i) {
      const auto [x, y] = w.batch();
      captured ? compiled(x, y) : step(x, y);
      if (i >= 8 && i % 3 == 0) held.push_back(parameters[i % 4].grad());
      if (i == 14) held.push_back(parameters[0].grad().view(-1).slice(0, 5, 50));
      if (i == 16) {  // an address that was taken does not matter to the values
        const float* p = parameters[2].grad().data_ptr<float>();
        held.push_back(torch::tensor(std::vector<float>(p, p + 7)));
      }
    }
    for (const Tensor& t : held) seen[captured].push_back(t.clone());
    for (const Tensor& t : state_of(*w.net)) seen[captured].push_back(t);
    if (captured) {
      EXPECT_GE(compiled.counts().replayed, 15) << compiled.counts().reason;
    }
  }
  EXPECT_TRUE(same_state(seen[0], seen[1]));
}
