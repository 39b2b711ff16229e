#pragma once
// Functions of statistics that no library vectorises; computed in double.

#include "formulas/math.h"

namespace hb::math {

/// d/dx log Γ(x).
HB_HD double digamma(double x) {
  if (x == 0) return ::copysign(infinity<double>, -x);
  double result = 0;
  if (x < 0) {
    if (x == ::floor(x)) return nan<double>;
    // Reflection; the fraction keeps tan accurate for large |x|.
    const double fraction = x - ::trunc(x);
    result = -M_PI / ::tan(M_PI * fraction);
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  if (x == 10) return result + 2.25175258906672110764;
  const double z = 1 / (x * x);
  const double series =
      z *
      (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + ::log(x) - 0.5 / x - series;
}

/// Hurwitz ζ(s, q) for s > 1 by Euler-Maclaurin summation.
HB_HD double hurwitz_zeta(double s, double q) {
  if (q <= 0) {
    if (q == ::floor(q)) return infinity<double>;
    if (s != ::floor(s)) return nan<double>;
  }
  double sum = 0;
  for (int i = 0; i < 12 || q < 9; ++i, q += 1) sum += ::pow(q, -s);
  const double bernoulli_over_factorial[] = {
      1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0, 1.0 / 74724249600.0};
  sum += ::pow(q, 1 - s) / (s - 1) + 0.5 * ::pow(q, -s);
  double factor = s * ::pow(q, -s - 1);
  for (int k = 0; k < 7; ++k) {
    sum += factor * bernoulli_over_factorial[k];
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (q * q);
  }
  return sum;
}

HB_HD double polygamma(int n, double x) {
  if (n == 0) return digamma(x);
  const double sign = n % 2 ? 1 : -1;
  return sign * ::exp(::lgamma(n + 1.0)) * hurwitz_zeta(n + 1, x);
}

/// The inverse of erf: a closed approximation, then Halley's steps on whichever of erf and erfc does not cancel.
HB_HD double erfinv(double y) {
  const double magnitude = ::fabs(y);
  if (!(magnitude <= 1)) return nan<double>;
  if (magnitude == 1) return ::copysign(infinity<double>, y);
  if (magnitude < 1e-8) return y * 0.886226925452758;
  const double a = 0.147, tail = (1 - magnitude) * (1 + magnitude);
  const double l = ::log(tail), h = 2 / (M_PI * a) + l / 2;
  double x = ::sqrt(::sqrt(h * h - l / a) - h);
  for (int i = 0; i < 3; ++i) {
    const double error = magnitude < 0.5 ? ::erf(x) - magnitude : (1 - magnitude) - ::erfc(x);
    const double step = error / (1.1283791670955126 * ::exp(-x * x));
    x -= step / (1 + x * step);
  }
  return ::copysign(x, y);
}

/// I_0 and I_1, the modified Bessel functions of the first kind; scaled: times exp(-|x|). The power series
/// (DLMF 10.25.2) has positive terms only; beyond 20 the asymptotic expansion (DLMF 10.40.1) is exact to double.
HB_HD double bessel_i(int order, double x, bool scaled) {
  const double size = ::fabs(x);
  double y;
  if (size <= 20) {
    double term = order ? size / 2 : 1, sum = term;
    for (int k = 1; term > sum * 1e-17 && k < 100; ++k) {
      term *= size * size / 4 / (static_cast<double>(k) * (k + order));
      sum += term;
    }
    y = scaled ? sum * ::exp(-size) : sum;
  } else if (size == infinity<double>) {
    y = scaled ? 0 : size;
  } else {
    double term = 1, sum = 1;
    for (int k = 1; ::fabs(term) > 1e-17 && k < 40; ++k) {
      const double odd = 2 * k - 1;
      term *= (odd * odd - 4 * order * order) / (8 * k * size);
      sum += term;
    }
    y = sum / ::sqrt(2 * M_PI * size);
    if (!scaled) y = y * ::exp(size / 2) * ::exp(size / 2);  // exp(size) may be too large where y is not
  }
  return order && x < 0 ? -y : y;
}

/// exp(x^2) erfc(x). Beyond 10 by the asymptotic expansion (DLMF 7.12.1).
HB_HD double erfcx(double x) {
  const double square = x * x, rest = ::fma(x, x, -square);  // x^2 exactly: exp doubles no rounding error of it
  if (x < 0) return x < -27 ? infinity<double> : 2 * ::exp(square) * (1 + rest) - erfcx(-x);
  if (x < 10) return ::exp(square) * (1 + rest) * ::erfc(x);
  double term = 1, sum = 1;
  for (int k = 1; ::fabs(term) > 1e-17 && k < 40; ++k) {
    term *= -(2 * k - 1) / (2 * square);
    sum += term;
  }
  return sum * 0.56418958354775628695 / x;
}

/// log of the distribution function of the standard normal distribution.
HB_HD double log_ndtr(double x) {
  const double t = x * M_SQRT1_2;
  return x < -1 ? ::log(erfcx(-t) / 2) - t * t : ::log1p(-::erfc(t) / 2);
}

/// The inverse of that distribution function. In the tails by Newton's method on its logarithm, which is concave, so
/// that the steps from the left never pass the solution.
HB_HD double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return nan<double>;
  if (p > 0.75) return -ndtri(1 - p);
  if (p >= 0.25) return M_SQRT2 * erfinv(2 * p - 1);
  if (p == 0) return -infinity<double>;
  const double target = ::log(p);
  double x = -::sqrt(-2 * target);
  for (int i = 0; i < 30; ++i) {
    const double step = (log_ndtr(x) - target) * erfcx(-x * M_SQRT1_2) * 1.25331413731550025121;
    x -= step;
    if (::fabs(step) <= 1e-15 * ::fabs(x)) break;
  }
  return x;
}

}  // namespace hb::math
