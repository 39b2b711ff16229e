// HALFBRIDGE_AMP=O1:fp16 (set by CTest for this file): an overflow holds back the step of a program that knows nothing
// of it.
#include "amp/environment.h"

#include <halfbridge/halfbridge.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <thread>

namespace nn = torch::nn;
using torch::Tensor;

namespace {
class AmpEnvironmentOverflow : public AmpEnvironment {};
}  // namespace

TEST_F(AmpEnvironmentOverflow, AnOverflowSkipsOneStep) {
  torch::optim::Adam adam(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  overflow();
  EXPECT_FALSE(torch::isfinite(fc->weight.grad()).all().item<bool>());
  adam.step();
  EXPECT_TRUE(torch::equal(fc->weight, before));
  adam.zero_grad();
  fc(x).to(torch::kFloat).mean().backward();
  adam.step();
  EXPECT_FALSE(torch::equal(fc->weight, before));
  EXPECT_TRUE(torch::isfinite(fc->weight).all().item<bool>());
}

TEST_F(AmpEnvironmentOverflow, AnOverflowSkipsOneStepOfExplicitGradients) {
  torch::optim::Adam adam(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  float factor = 1;
  auto fn = torch::value_and_grad([&] { return (fc(x) * factor).to(torch::kFloat).mean().mul(1e3); }, fc->parameters());
  factor = 1e5;
  auto grads = fn().second;
  EXPECT_FALSE(torch::isfinite(grads[0]).all().item<bool>());
  EXPECT_FALSE(adam.step(grads).defined());
  EXPECT_TRUE(torch::equal(fc->weight, before));
  // Clipping does not hide it, nor a sum.
  grads = fn().second;
  for (auto& g : grads) g = g.nan_to_num(0, 1, -1).clamp(-1, 1);
  adam.step(grads);
  EXPECT_TRUE(torch::equal(fc->weight, before));
  grads = fn().second;
  factor = 1;
  const auto more = fn().second;
  for (size_t i = 0; i < grads.size(); ++i) grads[i] = grads[i] + more[i];
  adam.step(grads);
  EXPECT_TRUE(torch::equal(fc->weight, before));
  // Values that were thrown away are forgotten.
  factor = 1e5;
  fn();
  factor = 1;
  grads = fn().second;
  const auto loss = adam.step(grads, [] { return torch::full({}, 7.0); });
  EXPECT_EQ(loss.item<float>(), 7);
  EXPECT_FALSE(torch::equal(fc->weight, before));
  EXPECT_TRUE(torch::isfinite(fc->weight).all().item<bool>());
}

namespace {
// Of the program's own: it does not support scaling.
struct OwnStep : torch::optim::Optimizer {
  explicit OwnStep(std::vector<Tensor> p) : Optimizer(std::move(p), std::make_unique<torch::optim::SGDOptions>(0.1)) {}

  Tensor step(LossClosure = nullptr) override {
    torch::NoGradGuard no_grad;
    for (auto& p : parameters()) p.sub_(p.grad());
    return {};
  }
};
}  // namespace

TEST_F(AmpEnvironmentOverflow, AnOptimizerOfOnesOwnIsHeldBackFromExplicitGradients) {
  OwnStep own(fc->parameters());
  const auto before = fc->weight.detach().clone();
  auto bad = torch::value_and_grad([&] { return (fc(x) * 1e5).to(torch::kFloat).mean().mul(1e3); }, fc->parameters());
  own(bad().second);
  EXPECT_TRUE(torch::equal(fc->weight, before));
  auto good = torch::value_and_grad([&] { return fc(x).to(torch::kFloat).mean(); }, fc->parameters());
  own(good().second);
  EXPECT_FALSE(torch::equal(fc->weight, before));
}

TEST_F(AmpEnvironmentOverflow, ClippingDoesNotHideAnOverflow) {
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  overflow();
  torch::nn::utils::clip_grad_value_(fc->parameters(), 1.0);
  sgd.step();
  EXPECT_TRUE(torch::equal(fc->weight, before));
}

// All networks share the scale: it does not vanish with one of them.
TEST_F(AmpEnvironmentOverflow, ANetworkThatIsLostDoesNotTakeTheScaleAway) {
  nn::Linear lost(8, 8);
  torch::optim::SGD lost_sgd(lost->parameters(), 0.1), sgd(fc->parameters(), 0.1);
  for (int i = 0; i < 200; ++i) {
    lost->zero_grad();
    (lost(x.narrow(1, 0, 8)).to(torch::kFloat) * NAN).sum().backward();
    lost_sgd.step();
  }
  const auto before = fc->weight.detach().clone();
  fc(x).to(torch::kFloat).mean().backward();
  sgd.step();
  EXPECT_FALSE(torch::equal(fc->weight, before));
  EXPECT_TRUE(torch::isfinite(fc->weight).all().item<bool>());
}

TEST_F(AmpEnvironmentOverflow, AnOverflowThatWasZeroedIsForgotten) {
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  const auto before = fc->weight.detach().clone();
  overflow();
  fc->zero_grad();
  fc(x).to(torch::kFloat).mean().backward();
  sgd.step();
  EXPECT_FALSE(torch::equal(fc->weight, before));
}

// An overflow in any micro-batch, not the last alone.
TEST_F(AmpEnvironmentOverflow, AnOverflowSkipsTheStepOfAnAccumulator) {
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  hb::train::Accumulator accumulator(sgd, 2);
  const auto before = fc->weight.detach().clone();
  overflow();
  accumulator.step();
  fc(x).to(torch::kFloat).mean().backward();
  EXPECT_TRUE(accumulator.step());
  EXPECT_TRUE(torch::equal(fc->weight, before));
  for (int i = 0; i < 2; ++i) {
    fc(x).to(torch::kFloat).mean().backward();
    accumulator.step();
  }
  EXPECT_FALSE(torch::equal(fc->weight, before));
  EXPECT_TRUE(torch::isfinite(fc->weight).all().item<bool>());
}

// The closure of LBFGS runs within its step.
TEST_F(AmpEnvironmentOverflow, AnOverflowTakesAStepOfLBFGSBack) {
  for (const bool line_search : {false, true}) {
    auto options = torch::optim::LBFGSOptions(0.1).max_iter(4);
    if (line_search) options.line_search_fn("strong_wolfe");
    torch::optim::LBFGS lbfgs(fc->parameters(), options);
    int calls = 0, bad_call = 0;
    const auto closure = [&] {
      lbfgs.zero_grad();
      auto loss = fc(x).to(torch::kFloat).pow(2).mean();
      if (++calls == bad_call) loss = loss + (fc(x) * 1e5).to(torch::kFloat).mean().mul(1e3);
      loss.backward();
      return loss;
    };
    for (const int bad : {1, 2, 3}) {
      const auto good = lbfgs.step(closure);
      EXPECT_TRUE(torch::isfinite(fc->weight).all().item<bool>());
      const auto before = fc->weight.detach().clone();
      const auto history = static_cast<torch::optim::LBFGSParamState&>(*lbfgs.state().begin()->second);
      calls = 0, bad_call = bad;
      lbfgs.step(closure);
      EXPECT_TRUE(torch::equal(fc->weight, before)) << bad;
      EXPECT_TRUE(static_cast<torch::optim::LBFGSParamState&>(*lbfgs.state().begin()->second) == history) << bad;
      bad_call = 0;
      EXPECT_LT(lbfgs.step(closure).item<float>(), good.item<float>()) << bad;
      EXPECT_FALSE(torch::equal(fc->weight, before));
    }
  }
}

// Overflows belong to a parameter while it lives, not to its address.
TEST_F(AmpEnvironmentOverflow, ParametersOfOnesThatAreGoneAreNotTakenForThem) {
  for (int i = 0; i < 200; ++i) {
    {
      nn::Linear gone(32, 8);
      torch::optim::SGD sgd(gone->parameters(), 0.1);
      (gone(x) * 1e5).to(torch::kFloat).mean().mul(1e3).backward();  // overflows, and no step follows
    }
    torch::optim::SGD sgd(fc->parameters(), 0.1);
    nn::Linear at_its_address(32, 8);
    sgd.param_groups()[0].params().push_back(at_its_address->weight);
    sgd.param_groups()[0].params().push_back(at_its_address->bias);
    fc->zero_grad();
    fc(x).to(torch::kFloat).mean().backward();
    const auto before = fc->weight.detach().clone();
    sgd.step();
    ASSERT_FALSE(torch::equal(fc->weight, before)) << i;
  }
}

TEST_F(AmpEnvironmentOverflow, ParametersThatJoinLaterAreHeldBackToo) {
  nn::Linear more(8, 8);
  torch::optim::SGD sgd(fc->parameters(), 0.1);
  sgd.add_parameters(more->parameters());
  const auto before = fc->weight.detach().clone();
  // The gradient of `more` alone overflows.
  (more(fc(x).detach()) * 1e5).to(torch::kFloat).mean().mul(1e3).backward();
  fc(x).to(torch::kFloat).mean().backward();
  sgd.step();
  EXPECT_TRUE(torch::equal(fc->weight, before));
}

// The last test, since its overflows take the scale down. Both threads find no gradient where they arrive; what the one
// found may not be forgotten by the other.
TEST_F(AmpEnvironmentOverflow, AnOverflowOfOneOfTwoThreads) {
  const Tensor w = torch::ones({4}).requires_grad_();
  torch::optim::SGD sgd({w}, 1);
  std::atomic<int> arrived{0};
  w.register_hook([&](Tensor) {  // before the gradient is added
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  for (int round = 0; round < 5; ++round) {
    sgd.zero_grad();
    arrived = 0;
    std::thread other([&] { (w * INFINITY).sum().backward(); });
    while (arrived == 0) std::this_thread::yield();
    w.sum().backward();
    other.join();
    sgd.step();
    ASSERT_TRUE(w.equal(torch::ones({4}))) << "round " << round;
  }
  // It is forgotten with the gradients.
  (w * INFINITY).sum().backward();
  sgd.zero_grad();
  w.sum().backward();
  sgd.step();
  EXPECT_TRUE(w.equal(torch::zeros({4})));
}
