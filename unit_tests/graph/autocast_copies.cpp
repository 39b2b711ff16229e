// Half copies of weights that a guard around captured steps keeps, as long as the weights are what they were. Captured
// steps compute what eager ones do, and leave copies that others hold as they are.
#include "graph/steps.h"

using namespace steps;

namespace {

using Step = std::function<Tensor(Tensor)>;
using Seen = std::vector<Tensor>;
/// Makes a step: as it is, or captured.
using Make = std::function<Step(Step)>;
using Program = std::function<Seen(nn::Linear& net, const Make& make)>;

void expect_equal(const Program& program, int replays) {
  std::vector<Seen> seen;
  int64_t replayed = 0;
  for (const bool captured : {false, true}) {
    torch::manual_seed(3);
    nn::Linear net(8, 8);
    std::vector<std::shared_ptr<hb::graph::Compiled<Step>>> steps;
    seen.push_back(program(net, [&](Step step) -> Step {
      if (!captured) return step;
      steps.push_back(std::make_shared<hb::graph::Compiled<Step>>(hb::graph::compile(std::move(step))));
      return [compiled = steps.back()](Tensor x) { return (*compiled)(std::move(x)); };
    }));
    for (const auto& step : steps) replayed += step->counts().replayed;
  }
  EXPECT_TRUE(same_state(seen[0], seen[1]));
  EXPECT_GE(replayed, replays);
}

Tensor batch() { return torch::randn({4, 8}); }
Tensor loss(nn::Linear& net, const Tensor& x) { return net(x).to(torch::kFloat).square().mean(); }
Step training(nn::Linear& net, torch::optim::SGD& sgd) {
  return [&](Tensor x) {
    sgd.zero_grad();
    Tensor l = loss(net, x);
    l.backward();
    sgd.step();
    return l.detach();
  };
}

}  // namespace

TEST(GraphAutocastCopies, OneGuardAroundAllCalls) {
  expect_equal(
      [](nn::Linear& net, const Make& make) {
        torch::optim::SGD sgd(net->parameters(), 0.1);
        const Step step = make(training(net, sgd));
        Seen seen;
        const torch::autocast guard(torch::kCPU, torch::kBFloat16);
        for (int i = 0; i < 10; ++i) seen.push_back(step(batch()));
        for (const Tensor& p : net->parameters()) seen.push_back(p);
        return seen;
      },
      5);
}

TEST(GraphAutocastCopies, GuardsOfOneCallAndThenOfMany) {
  expect_equal(
      [](nn::Linear& net, const Make& make) {
        torch::optim::SGD sgd(net->parameters(), 0.1);
        const Step step = make(training(net, sgd));
        Seen seen;
        for (const int calls : {1, 1, 1, 1, 1, 1, 6, 1, 1, 5}) {
          const torch::autocast guard(torch::kCPU, torch::kBFloat16);
          for (int i = 0; i < calls; ++i) seen.push_back(step(batch()));
          seen.push_back(loss(net, batch()).detach());
        }
        for (const Tensor& p : net->parameters()) seen.push_back(p);
        return seen;
      },
      10);
}

TEST(GraphAutocastCopies, WeightsThatTheProgramChanges) {
  expect_equal(
      [](nn::Linear& net, const Make& make) {
        const Step step = make([&](Tensor x) { return loss(net, x).detach(); });
        Seen seen;
        const torch::autocast guard(torch::kCPU, torch::kBFloat16);
        for (int i = 0; i < 12; ++i) {
          seen.push_back(step(batch()));
          const torch::NoGradGuard no_grad;
          if (i > 5) net->weight.mul_(0.5);
        }
        return seen;
      },
      6);
}

// Eager passes that keep such a copy for their backward pass.
TEST(GraphAutocastCopies, CopiesThatOthersKeep) {
  expect_equal(
      [](nn::Linear& net, const Make& make) {
        const Step step = make([&](Tensor x) { return loss(net, x).detach(); });
        Seen seen;
        for (int i = 0; i < 10; ++i) {
          Tensor x = batch().requires_grad_(), y;
          {
            const torch::autocast guard(torch::kCPU, torch::kBFloat16);
            seen.push_back(step(x.detach()));
            y = loss(net, x);
          }
          {
            const torch::NoGradGuard no_grad;
            net->weight.mul_(1.5);
          }
          const torch::autocast guard(torch::kCPU, torch::kBFloat16);
          seen.push_back(step(x.detach()));
          y.backward();
          seen.push_back(x.grad());
        }
        return seen;
      },
      8);
}
