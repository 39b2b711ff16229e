#pragma once
// The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), computed in double. `least` is the
// relative size of the terms that still count.

#include "formulas/math.h"

namespace hb::math {

/// mu - log(1 + mu).
HB_HD double log1p_remainder(double mu) {
  if (::fabs(mu) > 0.1) return mu - ::log1p(mu);
  double power = mu * mu, sum = power / 2;
  for (int k = 3; k < 24; ++k) {
    power *= -mu;
    sum += power / k;
  }
  return sum;
}

/// x^a exp(-x) / Gamma(a + 1) for a, x > 0.
HB_HD double gamma_term(double a, double x) {
  if (a < 10) return ::exp(a * ::log(x) - x - log_gamma(a + 1));
  // Stirling's series (DLMF 5.11.1), with the large parts of the exponents cancelled by hand.
  const double r = 1 / (a * a);
  const double series = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) / a;
  return ::exp(-a * log1p_remainder((x - a) / a) - series) / ::sqrt(2 * M_PI * a);
}

/// P by its power series (DLMF 8.11.4), for x up to about a.
HB_HD double gamma_p_series(double a, double x, double least) {
  double term = 1, sum = 1;
  for (int n = 1; term > sum * least && n < 200000; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return gamma_term(a, x) * sum;
}

/// Q by its continued fraction (DLMF 8.9.2) with Lentz's method, for x beyond a.
HB_HD double gamma_q_fraction(double a, double x, double least) {
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int n = 1; n < 200000; ++n) {
    const double numerator = -n * (n - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    const double factor = c * d;
    h *= factor;
    if (::fabs(factor - 1) < least) break;
  }
  return gamma_term(a, x) * a * h;
}

/// Q near 0, for small a and x (DLMF 8.7.1): 1 - x^a / Gamma(a + 1) (1 + a sum of (-x)^n / (n! (a + n))).
HB_HD double gamma_q_small(double a, double x) {
  double term = 1, sum = 0;
  for (int n = 1; n < 100 && ::fabs(term) > 1e-18; ++n) {
    term *= -x / n;
    sum += term / (a + n);
  }
  const double exponent = a * ::log(x) - log_gamma(a + 1);
  return -::expm1(exponent) - ::exp(exponent) * a * sum;
}

/// The values on the border and outside; `inside` where there is a formula.
struct GammaBorder {
  bool inside;
  double p;
};
HB_HD GammaBorder gamma_border(double a, double x) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0)) return {false, nan<double>};
  if (a == infinity<double>) return {false, x == infinity<double> ? nan<double> : 0};
  if (a == 0 || x == infinity<double>) return {false, 1};
  return {x > 0, 0};
}

/// What counts in a result of type T.
template <class T>
inline constexpr double least_term = sizeof(T) == 4 ? 1e-11 : 1e-16;

template <class T>
HB_HD double gamma_p(T a, T x) {
  const GammaBorder border = gamma_border(a, x);
  if (!border.inside) return border.p;
  return x < a + 1.0 ? gamma_p_series(a, x, least_term<T>) : 1 - gamma_q_fraction(a, x, least_term<T>);
}
template <class T>
HB_HD double gamma_q(T a, T x) {
  const GammaBorder border = gamma_border(a, x);
  if (!border.inside) return 1 - border.p;
  if (x >= a + 1.0) return gamma_q_fraction(a, x, least_term<T>);
  const double p = gamma_p_series(a, x, least_term<T>);
  return p < 0.9 || x > 2 ? 1 - p : gamma_q_small(a, x);
}

}  // namespace hb::math
