// How samples of the gamma and the Dirichlet distribution move with their parameters, against differences of the
// distribution functions.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <cmath>

namespace {

using hb::Tensor;

Tensor doubles(double value) { return hb::full({1}, value, hb::kDouble); }

// P(shape, x) by the engine's own incomplete gamma function.
double gamma_distribution(double shape, double x) { return hb::igamma(doubles(shape), doubles(x)).item<double>(); }
double gamma_density(double shape, double x) { return std::exp((shape - 1) * std::log(x) - x - std::lgamma(shape)); }

TEST(SampledGradients, GammaMovesAlongItsQuantile) {
  for (const double shape : {0.3, 0.9, 1.0, 2.5, 7.0, 30.0})
    for (const double part : {0.05, 0.4, 1.0, 1.3, 2.0}) {
      const double x = shape * part, h = 1e-5 * shape;
      const double expected =
          -(gamma_distribution(shape + h, x) - gamma_distribution(shape - h, x)) / (2 * h) / gamma_density(shape, x);
      const double got = hb::_standard_gamma_grad(doubles(shape), doubles(x)).item<double>();
      EXPECT_NEAR(got, expected, 1e-5 * std::abs(expected) + 1e-7) << "shape " << shape << ", sample " << x;
    }
}

// The integral of t^(a-1) (1-t)^(b-1) up to x by Simpson's rule, with t = v^25, so that it is smooth at 0.
double beta_distribution(double a, double b, double x) {
  const int n = 20000;
  const double power = 25, step = std::pow(x, 1 / power) / n;
  double sum = 0;
  for (int i = 0; i <= n; ++i) {
    const double weight = i == 0 || i == n ? 1 : (i % 2 ? 4 : 2), v = i * step;
    sum += weight * std::pow(v, power * a - 1) * std::pow(1 - std::pow(v, power), b - 1);
  }
  return power * sum * step / 3 * std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b));
}

TEST(SampledGradients, DirichletMovesAlongTheQuantileOfItsBeta) {
  for (const double alpha : {0.4, 1.0, 3.0})
    for (const double beta : {1.0, 2.0, 6.0})
      for (const double x : {0.05, 0.3, 0.6, 0.9}) {
        const double h = 1e-4;
        const double density = std::exp((alpha - 1) * std::log(x) + (beta - 1) * std::log(1 - x) +
                                        std::lgamma(alpha + beta) - std::lgamma(alpha) - std::lgamma(beta));
        const double expected =
            -(beta_distribution(alpha + h, beta, x) - beta_distribution(alpha - h, beta, x)) / (2 * h) / density;
        const double got = hb::_dirichlet_grad(doubles(x), doubles(alpha), doubles(alpha + beta)).item<double>();
        EXPECT_NEAR(got * (1 - x), expected, 1e-4 * std::abs(expected) + 1e-6)
            << "x " << x << ", alpha " << alpha << ", beta " << beta;
      }
}

TEST(SampledGradients, OfAMeanIsNearOne) {  // d E[sample] / d shape = 1
  hb::manual_seed(1);
  Tensor shape = hb::full({20000}, 1.7, hb::kDouble).requires_grad_();
  hb::_standard_gamma(shape).sum().backward();
  EXPECT_NEAR(shape.grad().mean().item<double>(), 1.0, 0.02);
}

}  // namespace
