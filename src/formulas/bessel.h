#pragma once
// Modified Bessel functions of the second kind and Airy's function, computed in double. Away from 0 they are integrals
// of functions that fall like exp(-x t^2), of which the trapezoidal rule with a step of constant / sqrt(x) gives all
// digits in about twenty terms.

#include "formulas/math.h"

namespace hb::math {

/// exp(x) K(x) of order `order` for x > 0 and not small: the integral of exp(-x (cosh t - 1)) cosh(order t)
/// (DLMF 10.32.9).
HB_HD double scaled_bessel_k_integral(double order, double x) {
  const double fine = 0.7 / ::sqrt(x), step = fine < 0.2 ? fine : 0.2;
  double sum = 0.5;
  for (int k = 1; k < 200; ++k) {
    const double t = k * step, s = ::sinh(t / 2), fall = 2 * x * s * s;
    if (fall > 42) break;
    sum += ::exp(-fall) * ::cosh(order * t);
  }
  return sum * step;
}

/// K of order 0 or 1 for small x > 0 by its power series (DLMF 10.31.1 and 10.31.2).
template <int kOrder>
HB_HD double bessel_k_series(double x) {
  const double quarter = x * x / 4, log_half = ::log(x / 2) + 0.57721566490153286061;
  double term = kOrder ? x / 2 : 1, harmonic = 0, sum = 0;
  for (int k = 0; k < 24; ++k) {
    if (k) term *= quarter / (k * (k + kOrder)), harmonic += 1.0 / k;
    if (kOrder) {
      sum += term * (log_half - harmonic - 0.5 / (k + 1));
    } else {
      sum += term * (harmonic - log_half);
    }
  }
  return kOrder ? 1 / x + sum : sum;
}

/// K of order 0 or 1; scaled: times exp(x).
template <int kOrder, bool kScaled>
HB_HD double bessel_k(double x) {
  if (x != x || x < 0) return nan<double>;
  if (x == 0) return infinity<double>;
  if (x == infinity<double>) return 0;
  if (x < 1.5) return bessel_k_series<kOrder>(x) * (kScaled ? ::exp(x) : 1);
  // exp in two factors: one alone falls below the normal numbers before the product does.
  const double scaled = scaled_bessel_k_integral(kOrder, x);
  return kScaled ? scaled : ::exp(-x / 2) * scaled * ::exp(-x / 2);
}

/// Ai for small |x| by its power series (DLMF 9.4.1).
HB_HD double airy_series(double x) {
  const double cube = x * x * x;
  double f = 1, g = x, f_sum = 1, g_sum = x;
  for (int k = 1; k < 20; ++k) {
    f *= cube / ((3 * k - 1) * (3 * k));
    g *= cube / ((3 * k) * (3 * k + 1));
    f_sum += f, g_sum += g;
  }
  return 0.35502805388781723926 * f_sum - 0.25881940379280679841 * g_sum;
}

/// Ai(-x) for x that are not small: DLMF 9.6.6 by K of order 1/3 at i zeta, whose integral runs along the path of
/// steepest descent t = s - i phi(s) with cos(phi) = 1 / cosh(s).
HB_HD double airy_oscillating(double x) {
  const double zeta = 2 * x * ::sqrt(x) / 3, fine = 0.5 / ::sqrt(zeta), step = fine < 0.11 ? fine : 0.11;
  double real = 0.5, imaginary = -0.5;
  for (int k = 1; k < 200; ++k) {
    const double s = k * step, sinh = ::sinh(s), slope = 1 / ::cosh(s), fall = zeta * sinh * sinh * slope;
    if (fall > 42) break;
    const double phi = ::atan(sinh), weight = ::exp(-fall);
    const double a = ::cosh(s / 3) * ::cos(phi / 3), b = ::sinh(s / 3) * ::sin(phi / 3);
    real += weight * (a - b * slope), imaginary -= weight * (b + a * slope);
  }
  return 2 * step / M_PI * ::sqrt(x / 3) * (real * ::sin(zeta) - imaginary * ::cos(zeta));
}

HB_HD double airy_ai(double x) {
  if (!(::fabs(x) < infinity<double>)) return x > 0 ? 0 : nan<double>;
  if (::fabs(x) < 2) return airy_series(x);
  if (x < 0) return airy_oscillating(-x);
  const double zeta = 2 * x * ::sqrt(x) / 3;
  return ::exp(-zeta / 2) * ::sqrt(x / 3) / M_PI * scaled_bessel_k_integral(1.0 / 3, zeta) * ::exp(-zeta / 2);
}

/// sin(x) / x.
HB_HD double spherical_bessel_j0(double x) { return x == 0 ? 1 : ::fabs(x) == infinity<double> ? 0 : ::sin(x) / x; }

}  // namespace hb::math
