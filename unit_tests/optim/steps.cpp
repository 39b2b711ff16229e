// Explicit gradients and optimizers of one's own.
#include "optim/every_optimizer.h"

using namespace every_optimizer;

TEST(ExplicitGradients, SameWeightsAsOwnOnes) {
  for (const auto& [name, make] : optimizers()) {
    auto own = leaves(), given = leaves();
    auto a = make(own), b = make(given);
    for (uint64_t step = 0; step < 5; ++step) {
      const auto grads = draw(own, step);
      set_grads(own, grads);
      a->step();
      b->step(grads);
    }
    expect_equal(own, given, name);
    EXPECT_FALSE(given[0].grad().defined());
  }
}

TEST(ExplicitGradients, UndefinedOnesAreLeftOutAndTheNumberMustFit) {
  auto params = leaves();
  const Tensor before = params[1].detach().clone();
  optim::Adam optimizer({optim::OptimizerParamGroup({params[0]}), optim::OptimizerParamGroup({params[1]})}, 0.1);
  optimizer.step({torch::ones({20, 40}), Tensor()});
  EXPECT_TRUE(params[1].equal(before));
  EXPECT_EQ(optimizer.state().size(), 1u);
  EXPECT_THROW(optimizer.step({torch::ones({20, 40})}), c10::Error);
  EXPECT_THROW(optimizer.step({torch::ones({20, 40}), torch::ones({8})}), c10::Error);
}

TEST(ExplicitGradients, TheClosureGivesTheLossOnly) {
  Tensor x = torch::ones({2}).requires_grad_();
  optim::SGD optimizer({x}, 0.5);
  const Tensor loss = optimizer.step({torch::full({2}, 2.0)}, [&] {
    optimizer.zero_grad();
    auto l = (x * x).sum();
    l.backward();
    return l;
  });
  EXPECT_EQ(loss.item<float>(), 2.0f);
  EXPECT_EQ(x[0].item<float>(), 0.0f);
}

namespace {
/// Overrides what takes gradients.
class SignSgd : public optim::Optimizer {
 public:
  SignSgd(Tensors params, double lr) : Optimizer(std::move(params), std::make_unique<optim::SGDOptions>(lr)) {}
  using Optimizer::step;
  Tensor step(const Tensors& grads, LossClosure closure) override {
    torch::NoGradGuard no_grad;
    size_t at = 0;
    for (auto& group : param_groups()) {
      for (auto& p : group.params()) {
        if (grads[at].defined()) p.sub_(grads[at].sign(), group.options().get_lr());
        ++at;
      }
    }
    return closure ? closure() : Tensor();
  }
};
/// Overrides what LibTorch's programs do.
class OldStyle : public optim::Optimizer {
 public:
  OldStyle(Tensors params, double lr) : Optimizer(std::move(params), std::make_unique<optim::SGDOptions>(lr)) {}
  Tensor step(LossClosure closure) override {
    Tensor loss;
    if (closure) {
      torch::AutoGradMode on(true);
      loss = closure();
    }
    torch::NoGradGuard no_grad;
    for (auto& p : parameters())
      if (p.grad().defined()) p.sub_(p.grad().sign(), param_groups()[0].options().get_lr());
    return loss;
  }
};
class Neither : public optim::Optimizer {
 public:
  explicit Neither(Tensors params) : Optimizer(std::move(params), std::make_unique<optim::SGDOptions>(0.1)) {}
};
}  // namespace

TEST(CustomOptimizers, OneOverrideServesBothSteps) {
  const auto check = [](optim::Optimizer& optimizer, Tensor x) {
    const Tensor own = torch::tensor({-1.0f, 1.0f});
    x.mutable_grad() = own;
    optimizer.step();
    EXPECT_TRUE(x.equal(torch::tensor({1.5f, 0.5f})));
    optimizer.step({torch::tensor({2.0f, 2.0f})});
    EXPECT_TRUE(x.equal(torch::tensor({1.0f, 0.0f})));
    EXPECT_TRUE(x.grad().is_same(own));
    const Tensor loss = optimizer.step([&] {
      optimizer.zero_grad();
      auto l = (x * torch::tensor({-3.0f, 4.0f})).sum();
      l.backward();
      return l;
    });
    EXPECT_EQ(loss.item<float>(), -3.0f);
    EXPECT_TRUE(x.equal(torch::tensor({1.5f, -0.5f})));
    EXPECT_FALSE(optimizer.supports_amp_scaling());
    EXPECT_THROW(optimizer.set_amp_scaling(Tensor(), torch::zeros({1})), c10::Error);
    EXPECT_THROW(optimizer.use_master_weights(), c10::Error);
  };
  Tensor x = torch::ones({2}).requires_grad_(), y = torch::ones({2}).requires_grad_();
  SignSgd with_grads({x}, 0.5);
  OldStyle without({y}, 0.5);
  check(with_grads, x);
  check(without, y);
}

TEST(CustomOptimizers, OneOfTheTwoMustBeOverridden) {
  Tensor x = torch::ones({2}).requires_grad_();
  Neither optimizer({x});
  EXPECT_THROW(static_cast<optim::Optimizer&>(optimizer).step(), c10::Error);
  EXPECT_THROW(static_cast<optim::Optimizer&>(optimizer).step({x}), c10::Error);
}
