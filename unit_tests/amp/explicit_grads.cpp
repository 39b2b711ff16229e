// Gradients as values: value_and_grad, grad, clipping, and the scaler and optimizers that take them.

#include <torch/torch.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using torch::Tensor;

TEST(ValueAndGrad, OfParameters) {
  torch::manual_seed(1);
  torch::nn::Linear net(3, 2);
  const Tensor x = torch::randn({4, 3});
  auto fn = torch::value_and_grad([&](const Tensor& in) { return net(in).pow(2).sum(); }, net->parameters());
  const auto [value, grads] = fn(x);
  ASSERT_EQ(grads.size(), 2u);
  EXPECT_FALSE(value.requires_grad());
  EXPECT_FALSE(net->weight.grad().defined());
  const Tensor loss = net(x).pow(2).sum();
  loss.backward();
  EXPECT_TRUE(torch::equal(value, loss));
  EXPECT_TRUE(torch::equal(grads[0], net->weight.grad()));
  EXPECT_TRUE(torch::equal(grads[1], net->bias.grad()));
}

TEST(ValueAndGrad, UnusedAndFrozenParametersHaveNone) {
  Tensor a = torch::ones({2}).requires_grad_(), b = torch::ones({2}).requires_grad_(), frozen = torch::ones({2});
  auto fn = torch::value_and_grad([&] { return (a * frozen).sum(); }, {a, b, frozen});
  const auto [value, grads] = fn();
  EXPECT_EQ(value.item<float>(), 2.f);
  EXPECT_TRUE(grads[0].defined());
  EXPECT_FALSE(grads[1].defined());
  EXPECT_FALSE(grads[2].defined());
}

TEST(ValueAndGrad, RefusesResultsWithoutHistory) {
  Tensor a = torch::ones({2}).requires_grad_(), frozen = torch::ones({2});
  EXPECT_THROW(torch::value_and_grad([&] { return a.argmax(); }, {a})(), torch::Error);
  EXPECT_THROW(torch::value_and_grad([&] { return a.detach().sum(); }, {a})(), torch::Error);
  const auto [value, grads] = torch::value_and_grad([&] { return (frozen * 2).sum(); }, {frozen})();
  EXPECT_EQ(value.item<float>(), 4.f);
  EXPECT_FALSE(grads[0].defined());  // nobody asked for one
}

TEST(ValueAndGrad, EachGradientHasItsOwnMemory) {
  Tensor a = torch::ones({3}).requires_grad_(), b = torch::ones({3}).requires_grad_();
  auto fn = torch::value_and_grad([&] { return (a + b).sum(); }, {a, b, a});
  auto [value, grads] = fn();
  for (Tensor& g : grads) {
    EXPECT_TRUE(g.is_contiguous());
    g.mul_(0.5);
  }
  for (const Tensor& g : grads) EXPECT_TRUE(torch::equal(g, torch::full({3}, 0.5)));
}

TEST(ValueAndGrad, AuxIsNotDifferentiated) {
  Tensor w = torch::full({}, 3.0).requires_grad_();
  const auto forward = [&](const Tensor& x) { return std::make_tuple(w * x, w * 100, w.detach() + 1); };
  auto with_aux = torch::value_and_grad(forward, std::nullopt, {w}, /*has_aux=*/true);
  const auto [values, grads] = with_aux(torch::full({}, 2.0));
  EXPECT_EQ(std::get<0>(values).item<float>(), 6.f);
  EXPECT_EQ(std::get<1>(values).item<float>(), 300.f);
  EXPECT_FALSE(std::get<1>(values).requires_grad());
  EXPECT_EQ(grads[0].item<float>(), 2.f);
  // Without it, the gradient is that of the sum.
  auto all = torch::value_and_grad(forward, std::nullopt, {w});
  EXPECT_EQ(all(torch::full({}, 2.0)).second[0].item<float>(), 102.f);
  // Lists work too.
  auto list = torch::value_and_grad(
      [&](const Tensor& x) {
        return std::vector<Tensor>{w * x, x};
      },
      std::nullopt, {w}, true);
  EXPECT_EQ(list(torch::full({}, 2.0)).first.size(), 2u);
}

// (loss, logits): the gradient is that of the sum of all elements of all outputs.
TEST(ValueAndGrad, TheSumOfAllOutputs) {
  torch::manual_seed(1);
  torch::nn::Linear net(3, 2);
  const Tensor x = torch::randn({4, 3});
  const auto forward = [&](const Tensor& in) {
    const Tensor logits = net(in);
    return std::make_tuple(logits.pow(2).mean(), logits, logits.argmax(1));
  };
  const auto [values, grads] = torch::value_and_grad(forward, std::nullopt, net->parameters())(x);
  const Tensor logits = net(x);
  (logits.pow(2).mean() + logits.sum()).backward();
  EXPECT_TRUE(torch::allclose(grads[0], net->weight.grad()));
  EXPECT_TRUE(torch::allclose(grads[1], net->bias.grad()));
  EXPECT_TRUE(torch::equal(std::get<1>(values), logits));
  const auto of_loss = torch::value_and_grad(forward, std::nullopt, net->parameters(), true)(x).second;
  net->zero_grad();
  net(x).pow(2).mean().backward();
  EXPECT_TRUE(torch::allclose(of_loss[0], net->weight.grad()));
  auto one =
      torch::value_and_grad([&](const Tensor& in) { return net(in).sum(); }, std::nullopt, net->parameters(), true);
  EXPECT_THROW(one(x), torch::Error);
}

TEST(ValueAndGrad, OfInputs) {
  const auto f = [](const Tensor& x, const Tensor& y) { return (x * x * y).sum(); };
  const Tensor x = torch::tensor({1.f, 2.f}), y = torch::tensor({3.f, 4.f});
  auto [value, dx] = torch::value_and_grad(f)(x, y);
  EXPECT_EQ(value.item<float>(), 19.f);
  EXPECT_TRUE(torch::equal(dx, torch::tensor({6.f, 16.f})));
  EXPECT_FALSE(x.requires_grad());
  EXPECT_TRUE(torch::equal(torch::value_and_grad(f, -1)(x, y).second, torch::tensor({1.f, 4.f})));
  const auto both = torch::value_and_grad(f, std::vector<int64_t>{1, 0})(x, y).second;
  EXPECT_TRUE(torch::equal(both[0], torch::tensor({1.f, 4.f})));
  EXPECT_TRUE(torch::equal(both[1], dx));
  EXPECT_THROW(torch::value_and_grad(f, 2)(x, y), torch::Error);
  EXPECT_THROW(torch::value_and_grad([](const Tensor& t) { return t; })(x), torch::Error);  // two elements
}

TEST(ValueAndGrad, OfInputsAndParameters) {
  Tensor w = torch::tensor({5.f, 6.f}).requires_grad_();
  const auto f = [&](const Tensor& x) { return (x * w).sum(); };
  auto fn = torch::value_and_grad(f, 0, {w});
  auto [value, grads] = fn(torch::tensor({1.f, 2.f}));
  auto& [of_input, of_params] = grads;
  EXPECT_EQ(value.item<float>(), 17.f);
  EXPECT_TRUE(torch::equal(of_input, torch::tensor({5.f, 6.f})));
  EXPECT_TRUE(torch::equal(of_params[0], torch::tensor({1.f, 2.f})));
}

TEST(Grad, HigherDerivatives) {
  const auto cube = [](const Tensor& x) { return x * x * x; };
  const Tensor x = torch::full({}, 2.0);
  EXPECT_EQ(torch::grad(cube)(x).item<float>(), 12.f);
  EXPECT_EQ(torch::grad(torch::grad(cube))(x).item<float>(), 12.f);
  EXPECT_EQ(torch::grad(torch::grad(torch::grad(cube)))(x).item<float>(), 6.f);
  Tensor w = torch::full({}, 4.0).requires_grad_();
  EXPECT_EQ(torch::grad([&](const Tensor& t) { return t * w; }, std::nullopt, {w})(x).at(0).item<float>(), 2.f);
}

TEST(ClipByGlobalNorm, ScalesAllTogether) {
  const std::vector<Tensor> grads{torch::tensor({3.f, 0.f}), Tensor(), torch::tensor({4.f})};
  const auto clipped = hb::clip_by_global_norm(grads, 1.0);
  EXPECT_TRUE(torch::allclose(clipped[0], torch::tensor({0.6f, 0.f})));
  EXPECT_FALSE(clipped[1].defined());
  EXPECT_TRUE(torch::allclose(clipped[2], torch::tensor({0.8f})));
  EXPECT_TRUE(torch::equal(grads[2], torch::tensor({4.f})));
  EXPECT_TRUE(torch::equal(hb::clip_by_global_norm(grads, 5.0)[0], grads[0]));
  EXPECT_TRUE(torch::equal(hb::clip_by_global_norm(grads, 9.0)[2], grads[2]));
  EXPECT_THROW((void)hb::clip_by_global_norm(grads, 0.0), torch::Error);
}

// --- the explicit path against backward() and step()

struct Net : torch::nn::Module {
  Net()
      : first(register_module("first", torch::nn::Linear(6, 8))),
        second(register_module("second", torch::nn::Linear(8, 3))) {}
  Tensor forward(const Tensor& x) { return second(torch::tanh(first(x))); }
  torch::nn::Linear first, second;
};

template <class MakeOptimizer>
void same_weights(const MakeOptimizer& make, bool unscale_first) {
  torch::manual_seed(3);
  Net a;
  torch::manual_seed(3);
  Net b;
  auto opt_a = make(a.parameters()), opt_b = make(b.parameters());
  torch::amp::GradScaler scaler_a("cpu", 1024.0, 2.0, 0.5, 3), scaler_b("cpu", 1024.0, 2.0, 0.5, 3);
  const auto loss_of = [&](Net& net, const Tensor& x, const Tensor& y, double factor) {
    return torch::nn::functional::cross_entropy(net.forward(x), y) * factor;
  };
  for (int step = 0; step < 8; ++step) {
    const Tensor x = torch::randn({5, 6}), y = torch::randint(3, {5});
    // Overflows in the third step.
    const double factor = step == 2 ? std::numeric_limits<double>::infinity() : 1.0;

    opt_a->zero_grad();
    scaler_a.scale(loss_of(a, x, y, factor)).backward();
    if (unscale_first) {
      scaler_a.unscale_(*opt_a);
    }
    scaler_a.step(*opt_a);
    scaler_a.update();

    auto fn = torch::value_and_grad(
        [&](const Tensor& in, const Tensor& target) { return scaler_b.scale(loss_of(b, in, target, factor)); },
        b.parameters());
    const auto [loss, grads] = fn(x, y);
    if (unscale_first) scaler_b.unscale_(*opt_b, grads);
    scaler_b.step(*opt_b, grads);
    scaler_b.update();
    ASSERT_EQ(scaler_a.get_scale(), scaler_b.get_scale());
  }
  const auto pa = a.named_parameters(), pb = b.named_parameters();
  for (const auto& p : pa) EXPECT_TRUE(torch::equal(p.value(), pb[p.key()])) << p.key();
  EXPECT_EQ(scaler_a.get_scale(), 1024.0);  // halved by the overflow, doubled after three good steps
}

TEST(ExplicitGrads, SameWeightsBitForBit) {
  for (const bool unscale_first : {false, true}) {
    same_weights(
        [](std::vector<Tensor> p) {
          return std::make_unique<torch::optim::SGD>(p, torch::optim::SGDOptions(0.1).momentum(0.9));
        },
        unscale_first);
    same_weights(
        [](std::vector<Tensor> p) {
          return std::make_unique<torch::optim::AdamW>(p, torch::optim::AdamWOptions(0.01));
        },
        unscale_first);
    same_weights(
        [](std::vector<Tensor> p) {
          return std::make_unique<torch::optim::RMSprop>(p, torch::optim::RMSpropOptions(0.01));
        },
        unscale_first);
  }
}

TEST(ExplicitGrads, SeveralOptimizersAndLosses) {
  Tensor a = torch::ones({2}).requires_grad_(), b = torch::ones({2}).requires_grad_();
  torch::optim::SGD first({a}, 0.5), second({b}, 0.5);
  torch::amp::GradScaler scaler("cpu", 4.0);
  float factor = 1;
  auto f = torch::value_and_grad([&] { return scaler.scale((a * 2).sum()); }, {a});
  auto g = torch::value_and_grad([&] { return scaler.scale((b * factor).sum()); }, {b});
  const auto round = [&] {
    auto [loss_a, grads_a] = f();
    auto [loss_b, grads_b] = g();
    scaler.unscale_(first, grads_a);
    EXPECT_TRUE(torch::equal(grads_a[0], torch::full({2}, 2.0)));
    scaler.step(first, grads_a);
    scaler.step(second, grads_b);
    scaler.update();
  };
  round();
  EXPECT_TRUE(torch::equal(a, torch::zeros({2})));
  EXPECT_TRUE(torch::equal(b, torch::full({2}, 0.5)));
  factor = std::numeric_limits<float>::infinity();
  round();
  EXPECT_TRUE(torch::equal(a, torch::full({2}, -1.0)));  // that optimizer's gradients were finite
  EXPECT_TRUE(torch::equal(b, torch::full({2}, 0.5)));
  EXPECT_EQ(scaler.get_scale(), 2.0);
  EXPECT_THROW(scaler.step(first, std::vector<Tensor>{a, b}), torch::Error);  // one parameter, two gradients
}

/// An optimizer of the program's own that takes its gradients explicitly.
class SignDescent : public torch::optim::Optimizer {
 public:
  explicit SignDescent(std::vector<Tensor> params)
      : Optimizer(std::move(params), std::make_unique<torch::optim::SGDOptions>(0.5)) {}
  using Optimizer::step;
  Tensor step(const std::vector<Tensor>& grads, LossClosure closure = nullptr) override {
    torch::NoGradGuard no_grad;
    seen = grads[0].clone();
    param_groups()[0].params()[0].sub_(grads[0].sign(), 0.5);
    return closure ? closure() : Tensor();
  }
  Tensor seen;
};

TEST(ExplicitGrads, CustomOptimizer) {
  Tensor w = torch::tensor({1.f, -2.f}).requires_grad_();
  SignDescent optimizer({w});
  torch::amp::GradScaler scaler("cpu", 8.0);
  double factor = 1;
  auto fn = torch::value_and_grad([&] { return scaler.scale((w * w).sum() * factor); }, {w});
  scaler.step(optimizer, fn().second);
  scaler.update();
  EXPECT_TRUE(torch::equal(w, torch::tensor({0.5f, -1.5f})));
  EXPECT_TRUE(torch::equal(optimizer.seen, torch::tensor({2.f, -4.f})));  // unscaled
  factor = std::numeric_limits<double>::infinity();
  scaler.step(optimizer, fn().second);
  scaler.update();
  EXPECT_TRUE(torch::equal(w, torch::tensor({0.5f, -1.5f})));
  EXPECT_EQ(scaler.get_scale(), 4.0);
  // The gradients of the parameters serve as well.
  w.sum().backward();
  optimizer.step();
  EXPECT_TRUE(torch::equal(w, torch::tensor({0.f, -2.f})));
}

}  // namespace

// Half types hold neither the squares nor the factor.
TEST(ClipByGlobalNorm, OfHugeHalfGradients) {
  const auto clipped = hb::clip_by_global_norm({torch::full({1000}, 60000.0, torch::kHalf)}, 1.0);
  EXPECT_EQ(clipped[0].scalar_type(), torch::kHalf);
  EXPECT_NEAR(clipped[0][0].item<double>(), 1 / std::sqrt(1000.0), 2e-5);
}
