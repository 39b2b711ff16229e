// Samples of the gamma distribution, and how samples of it and of the Dirichlet distribution move with their
// parameters.
#include <algorithm>
#include <cmath>
#include <mutex>

#include "backend/distributions.h"
#include "formulas/random.h"
#include "formulas/special_functions.h"

namespace hb::cpu {
namespace {

/// Marsaglia and Tsang's method; shapes below 1 by way of shape + 1. The draws are LibTorch's, in its order.
double sample_gamma(double shape, CPUGeneratorImpl& rng) {
  double scale = 1;
  if (shape < 1) {
    if (shape == 0) return 0;
    scale = std::pow(1 - kernels::unit_double(rng), 1 / shape);
    shape += 1;
  }
  const double d = shape - 1.0f / 3, c = 1 / std::sqrt(9 * d);  // LibTorch's third is a float's
  for (;;) {
    double x, y;
    do {
      x = kernels::normal(rng, 0, 1);
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - kernels::unit_double(rng), x2 = x * x;
    if (u < 1 - 0.0331f * x2 * x2 || std::log(u) < 0.5 * x2 + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

/// A number and its derivative by one parameter.
struct Dual {
  double v, d = 0;
};
Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
Dual operator/(Dual a, Dual b) { return {a.v / b.v, (a.d - a.v / b.v * b.d) / b.v}; }
Dual away_from_zero(Dual a) { return std::abs(a.v) < 1e-300 ? Dual{1e-300, a.d} : a; }

constexpr double kEnough = 1e-16;
constexpr int kTerms = 100000;

/// Lentz's evaluation of a continued fraction: b0 + a(1) / (b(1) + a(2) / (b(2) + …)).
template <class A, class B>
Dual continued_fraction(Dual b0, A a, B b) {
  Dual f = away_from_zero(b0), c = f, d{0};
  for (int i = 1; i < kTerms; ++i) {
    d = Dual{1} / away_from_zero(b(i) + a(i) * d);
    c = away_from_zero(b(i) + a(i) / c);
    const Dual step = c * d;
    f = f * step;
    if (std::abs(step.v - 1) < kEnough && std::abs(step.d) < kEnough) break;
  }
  return f;
}

/// d sample / d shape = -(d P / d shape) / density, P the distribution function. P = density * s, s a series where the
/// sample is small, else P = 1 - density * s, s a continued fraction; so only s and d log density / d shape count.
double gamma_gradient(double shape, double sample) {
  if (!(shape > 0) || !(sample > 0)) return std::isnan(shape) || std::isnan(sample) ? shape + sample : 0;
  const double by_density = std::log(sample) - math::digamma(shape);
  const Dual a{shape, 1}, x{sample};
  if (sample < shape + 1) {
    Dual term = x / a, s = term;
    for (int i = 1; i < kTerms; ++i) {
      term = term * x / (a + Dual{double(i)});
      s = s + term;
      if (std::abs(term.v) < kEnough * s.v && std::abs(term.d) < kEnough * std::abs(s.d)) break;
    }
    return -(s.v * by_density + s.d);
  }
  const Dual s = x / continued_fraction(
                         x + Dual{1} - a, [&](int i) { return Dual{-double(i)} * (Dual{double(i)} - a); },
                         [&](int i) { return x + Dual{2.0 * i + 1} - a; });
  return s.v * by_density + s.d;
}

/// For x of a Beta distribution (alpha, beta): x (1 - x) / alpha times the continued fraction of the incomplete beta
/// function is P / density; beyond the mean the other tail's is taken.
double dirichlet_gradient(double x, double alpha, double total) {
  const double beta = total - alpha;
  if (!(x > 0 && x < 1) || !(alpha > 0) || !(beta > 0)) return std::isnan(x + alpha + total) ? x + alpha + total : 0;
  const double by_density = std::log(x) - math::digamma(alpha) + math::digamma(total);
  const bool lower = x <= alpha / total;
  const Dual z{lower ? x : 1 - x};
  const Dual p = lower ? Dual{alpha, 1} : Dual{beta}, q = lower ? Dual{beta} : Dual{alpha, 1};
  const auto factor = [&](int i) {
    if (i == 1) return Dual{1};
    const int j = i - 1;
    const Dual h{double(j / 2)}, at = p + Dual{double(j)};
    if (j % 2 == 0) return h * (q - h) * z / ((at - Dual{1}) * at);
    return Dual{-1} * (p + h) * (p + q + h) * z / ((at - Dual{1}) * at);
  };
  const Dual fraction = continued_fraction(Dual{0}, factor, [](int) { return Dual{1}; });
  const Dual s = Dual{x * (1 - x)} / p * fraction;  // the tail that was taken, by the density
  const double moved = s.v * by_density + s.d;
  return (lower ? -moved : moved) / (1 - x);
}

template <class F>
void for_floating(const char* name, const Tensor& out, F f) {
  if (out.scalar_type() == kFloat) return f(float{});
  if (out.scalar_type() == kDouble) return f(double{});
  HB_NOT_SUPPORTED("[", name, "] not implemented for '", toString(out.scalar_type()), "'");
}
template <class T>
T* values(const Tensor& t) {
  return static_cast<T*>(t.impl().visible_data());
}

void standard_gamma(const Tensor& out, const Tensor& shape, double least, const MaybeGenerator& generator) {
  auto* rng = get_generator_or_default<CPUGeneratorImpl>(generator, default_generator());
  const std::lock_guard<std::mutex> lock(rng->mutex_);
  for_floating("_standard_gamma", out, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < out.numel(); ++i)
      values<T>(out)[i] = std::max(static_cast<T>(least), static_cast<T>(sample_gamma(values<T>(shape)[i], *rng)));
  });
}
void standard_gamma_grad(const Tensor& out, const Tensor& shape, const Tensor& sample) {
  for_floating("_standard_gamma_grad", out, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < out.numel(); ++i)
      values<T>(out)[i] = static_cast<T>(gamma_gradient(values<T>(shape)[i], values<T>(sample)[i]));
  });
}
void dirichlet_grad(const Tensor& out, const Tensor& x, const Tensor& alpha, const Tensor& total) {
  for_floating("_dirichlet_grad", out, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < out.numel(); ++i)
      values<T>(out)[i] = static_cast<T>(dirichlet_gradient(values<T>(x)[i], values<T>(alpha)[i], values<T>(total)[i]));
  });
}

HB_REGISTER_CPU(standard_gamma_kernel, standard_gamma);
HB_REGISTER_CPU(standard_gamma_grad_kernel, standard_gamma_grad);
HB_REGISTER_CPU(dirichlet_grad_kernel, dirichlet_grad);

}  // namespace
}  // namespace hb::cpu
