#pragma once
// Functions of statistics that are computed in double, element by element.

#include "formulas/vector_special.h"

namespace hb::math {

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
  if (n == 1) return trigamma(x);
  const double sign = n % 2 ? 1 : -1;
  return sign * ::exp(::lgamma(n + 1.0)) * hurwitz_zeta(n + 1, x);
}

/// exp(x^2) erfc(x). Beyond 10 by the asymptotic expansion (DLMF 7.12.1).
HB_HD double erfcx(double x) {
  if (x < -27) return infinity<double>;
  const double square = x * x, rest = ::fma(x, x, -square);  // x^2 exactly: exp doubles no rounding error of it
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
  const double sign = p > 0.75 ? -1 : 1;
  if (sign < 0) p = 1 - p;
  if (p >= 0.25) return M_SQRT2 * erfinv(2 * p - 1);
  if (p == 0) return -sign * infinity<double>;
  const double target = ::log(p);
  double x = -::sqrt(-2 * target);
  for (int i = 0; i < 30; ++i) {
    const double step = (log_ndtr(x) - target) * erfcx(-x * M_SQRT1_2) * 1.25331413731550025121;
    x -= step;
    if (::fabs(step) <= 1e-15 * ::fabs(x)) break;
  }
  return sign * x;
}

}  // namespace hb::math
