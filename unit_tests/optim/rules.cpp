// Optimizers that LibTorch has only in Python, against their published rules written with tensor operations in double.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <sstream>

namespace optim = torch::optim;
using torch::Tensor;

namespace {

/// 30 steps of `optimizer` on x, and of `rule(p, g, step)` on a copy; both must stay together.
template <class Optimizer, class Options>
void check(const Options& options, const std::function<void(Tensor& p, const Tensor& g, int step)>& rule) {
  torch::manual_seed(2);
  Tensor x = torch::randn({70, 3}, torch::kDouble).requires_grad_(),
         single = x.detach().to(torch::kFloat).requires_grad_();
  Tensor expected = x.detach().clone();
  Optimizer optimizer({x}, options), in_single({single}, options);
  for (int step = 1; step <= 30; ++step) {
    const Tensor g = torch::randn({70, 3}, torch::kDouble);
    x.mutable_grad() = g.clone();
    single.mutable_grad() = g.to(torch::kFloat);
    optimizer.step();
    in_single.step();
    rule(expected, g, step);
    ASSERT_TRUE(torch::allclose(x.detach(), expected, 1e-12, 1e-12)) << "step " << step;
    ASSERT_TRUE(torch::allclose(single.detach().to(torch::kDouble), expected, 1e-4, 1e-5)) << "float, step " << step;
  }
  // The state comes back from a file.
  std::stringstream file;
  torch::save(optimizer, file);
  Tensor y = x.detach().clone().requires_grad_();
  Optimizer other({y}, Options(0.5));
  torch::load(other, file);
  x.mutable_grad() = torch::ones({70, 3}, torch::kDouble);
  y.mutable_grad() = torch::ones({70, 3}, torch::kDouble);
  optimizer.step();
  other.step();
  EXPECT_TRUE(x.equal(y));
}

Tensor zeros() { return torch::zeros({70, 3}, torch::kDouble); }

}  // namespace

TEST(UpdateRules, Adamax) {
  for (double decay : {0.0, 0.1}) {
    Tensor m = zeros(), u = zeros();
    check<optim::Adamax>(optim::AdamaxOptions().betas({0.8, 0.9}).eps(1e-3).weight_decay(decay),
                         [&](Tensor& p, const Tensor& grad, int t) {
                           const Tensor g = grad + p * decay;
                           m = m * 0.8 + g * 0.2;
                           u = torch::maximum(u * 0.9, g.abs() + 1e-3);
                           p = p - m / u * (2e-3 / (1 - std::pow(0.8, t)));
                         });
  }
}

TEST(UpdateRules, Adadelta) {
  for (double decay : {0.0, 0.1}) {
    Tensor v = zeros(), d = zeros();
    check<optim::Adadelta>(optim::AdadeltaOptions(0.7).rho(0.8).eps(1e-4).weight_decay(decay),
                           [&](Tensor& p, const Tensor& grad, int) {
                             const Tensor g = grad + p * decay;
                             v = v * 0.8 + g * g * 0.2;
                             const Tensor change = (d + 1e-4).sqrt() / (v + 1e-4).sqrt() * g;
                             d = d * 0.8 + change * change * 0.2;
                             p = p - change * 0.7;
                           });
  }
}

TEST(UpdateRules, NAdam) {
  for (bool decoupled : {false, true}) {
    Tensor m = zeros(), v = zeros();
    double product = 1;
    check<optim::NAdam>(optim::NAdamOptions(0.01).weight_decay(0.1).decoupled_weight_decay(decoupled).eps(1e-3),
                        [&](Tensor& p, const Tensor& grad, int t) {
                          if (decoupled) p = p * (1 - 0.01 * 0.1);
                          const Tensor g = decoupled ? grad : grad + p * 0.1;
                          const double mu = 0.9 * (1 - 0.5 * std::pow(0.96, t * 0.004));
                          const double next = 0.9 * (1 - 0.5 * std::pow(0.96, (t + 1) * 0.004));
                          product *= mu;
                          m = m * 0.9 + g * 0.1;
                          v = v * 0.999 + g * g * 0.001;
                          const Tensor hat = m * (next / (1 - product * next)) + g * ((1 - mu) / (1 - product));
                          p = p - hat * 0.01 / ((v / (1 - std::pow(0.999, t))).sqrt() + 1e-3);
                        });
  }
}

TEST(UpdateRules, RAdam) {
  for (bool decoupled : {false, true}) {
    Tensor m = zeros(), v = zeros();
    int rectified = 0;
    check<optim::RAdam>(
        optim::RAdamOptions(0.01).weight_decay(0.1).decoupled_weight_decay(decoupled).betas({0.9, 0.99}).eps(1e-3),
        [&](Tensor& p, const Tensor& grad, int t) {
          if (decoupled) p = p * (1 - 0.01 * 0.1);
          const Tensor g = decoupled ? grad : grad + p * 0.1;
          m = m * 0.9 + g * 0.1;
          v = v * 0.99 + g * g * 0.01;
          const Tensor mean = m / (1 - std::pow(0.9, t));
          const double limit = 2 / (1 - 0.99) - 1;
          const double length = limit - 2 * t * std::pow(0.99, t) / (1 - std::pow(0.99, t));
          if (length <= 5) {
            p = p - mean * 0.01;
            return;
          }
          ++rectified;
          const double r = std::sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length));
          p = p - mean * 0.01 * r * std::sqrt(1 - std::pow(0.99, t)) / (v.sqrt() + 1e-3);
        });
    EXPECT_GT(rectified, 10);
    EXPECT_LT(rectified, 30);
  }
}

TEST(UpdateRules, Lion) {
  for (double decay : {0.0, 0.1}) {
    Tensor m = zeros();
    check<optim::Lion>(optim::LionOptions(0.01).weight_decay(decay), [&](Tensor& p, const Tensor& g, int) {
      p = p * (1 - 0.01 * decay);
      p = p - (m * 0.9 + g * 0.1).sign() * 0.01;
      m = m * 0.99 + g * 0.01;
    });
  }
}

TEST(UpdateRules, BadArguments) {
  const Tensor x = torch::ones({2}).requires_grad_();
  EXPECT_THROW(optim::Adamax({x}, -1.0), c10::Error);
  EXPECT_THROW(optim::Adadelta({x}, optim::AdadeltaOptions().rho(1.5)), c10::Error);
  EXPECT_THROW(optim::NAdam({x}, optim::NAdamOptions().momentum_decay(-1)), c10::Error);
  EXPECT_THROW(optim::RAdam({x}, optim::RAdamOptions().betas({1.0, 0.9})), c10::Error);
  EXPECT_THROW(optim::Lion({x}, optim::LionOptions().weight_decay(-1)), c10::Error);
}
