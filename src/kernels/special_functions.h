#pragma once
// Functions of statistics that no library vectorises; computed in double.

#include "kernels/math.h"

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

}  // namespace hb::math
