#pragma once
// Samples of the gamma distribution, and how samples of it and of the Dirichlet distribution move with their
// parameters.
#include <cmath>

#include "formulas/host_device.h"
#include "formulas/special_functions.h"

namespace hb::kernels {

/// Marsaglia and Tsang's method ("A simple method for generating gamma variables", 2000); shapes below 1 by way of
/// shape + 1. Draws has uniform(), in [0, 1), and normal(); they are LibTorch's, in the order of its CPU build.
template <class Draws>
HB_HD double sample_gamma(Draws& draws, double shape) {
  double scale = 1;
  if (shape < 1) {
    if (shape == 0) return 0;
    scale = std::pow(1 - draws.uniform(), 1 / shape);
    shape += 1;
  }
  const double d = shape - 1.0f / 3, c = 1 / std::sqrt(9 * d);  // LibTorch's third is a float's
  for (;;) {
    double x, y;
    do {
      x = draws.normal();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - draws.uniform(), x2 = x * x;
    if (u < 1 - 0.0331f * x2 * x2 || std::log(u) < 0.5 * x2 + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

/// A number and its derivative by one parameter.
struct Dual {
  double v, d = 0;
};
HB_HD Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
HB_HD Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
HB_HD Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
HB_HD Dual operator/(Dual a, Dual b) { return {a.v / b.v, (a.d - a.v / b.v * b.d) / b.v}; }
HB_HD Dual away_from_zero(Dual a) { return std::abs(a.v) < 1e-300 ? Dual{1e-300, a.d} : a; }

constexpr double kEnough = 1e-16;
constexpr int kTerms = 100000;

/// Lentz's evaluation of a continued fraction: b0 + a(1) / (b(1) + a(2) / (b(2) + …)).
template <class A, class B>
HB_HD Dual continued_fraction(Dual b0, A a, B b) {
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
HB_HD double gamma_gradient(double shape, double sample) {
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
HB_HD double dirichlet_gradient(double x, double alpha, double total) {
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

}  // namespace hb::kernels
