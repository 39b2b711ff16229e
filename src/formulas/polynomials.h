#pragma once
// Orthogonal polynomials by their three-term recurrences, computed in double.

#include "formulas/math.h"

namespace hb::math {

/// The degree of a number: its integer part; -1 where the polynomial is 0, as it is for NaN.
HB_HD int64_t degree(double n) { return n > -1 ? (n < 9e18 ? static_cast<int64_t>(n) : INT64_MAX) : -1; }

/// The n-th of polynomials that begin with p0 and p1, next(k, p[k - 1], p[k - 2]) being p[k].
template <class Next>
HB_HD double recurrence(int64_t n, double p0, double p1, Next next) {
  if (n < 0) return 0;
  if (n == 0) return p0;
  for (int64_t k = 2; k <= n && ::fabs(p1) < infinity<double>; ++k) {
    const double p2 = next(static_cast<double>(k), p1, p0);
    p0 = p1, p1 = p2;
  }
  return p1;
}

enum class Chebyshev { T, U, V, W };

/// The value at x = 1; at -1 it is that of the other kind of V and W, with the sign of an odd degree.
template <Chebyshev kKind>
HB_HD double chebyshev_at_end(int64_t n, bool right) {
  const double sign = right || n % 2 == 0 ? 1 : -1, degree = static_cast<double>(n);
  if (kKind == Chebyshev::T) return sign;
  if (kKind == Chebyshev::U) return sign * (degree + 1);
  return (kKind == Chebyshev::V) == right ? sign : sign * (2 * degree + 1);
}

/// T, U, V and W (DLMF 18.3), which share a recurrence; between -1 and 1 of higher degree by their angle.
template <Chebyshev kKind>
HB_HD double chebyshev(double x, double number) {
  const int64_t n = degree(number);
  if (n < 0) return 0;
  if (::fabs(x) == 1) return chebyshev_at_end<kKind>(n, x > 0);
  if (n > 8 && ::fabs(x) < 1) {
    const double angle = ::acos(x), order = static_cast<double>(n);
    if (kKind == Chebyshev::T) return ::cos(order * angle);
    if (kKind == Chebyshev::U) return ::sin((order + 1) * angle) / ::sin(angle);
    if (kKind == Chebyshev::V) return ::cos((order + 0.5) * angle) / ::cos(angle / 2);
    return ::sin((order + 0.5) * angle) / ::sin(angle / 2);
  }
  const double shift = kKind == Chebyshev::V ? -1 : kKind == Chebyshev::W ? 1 : 0;
  return recurrence(n, 1, kKind == Chebyshev::T ? x : 2 * x + shift,
                    [x](double, double p1, double p0) { return 2 * x * p1 - p0; });
}

/// The physicists' Hermite polynomial.
HB_HD double hermite_h(double x, double n) {
  return recurrence(degree(n), 1, 2 * x, [x](double k, double p1, double p0) { return 2 * (x * p1 - (k - 1) * p0); });
}
/// The probabilists'.
HB_HD double hermite_he(double x, double n) {
  return recurrence(degree(n), 1, x, [x](double k, double p1, double p0) { return x * p1 - (k - 1) * p0; });
}
HB_HD double laguerre(double x, double n) {
  if (x == 0) return degree(n) < 0 ? 0 : 1;
  return recurrence(degree(n), 1, 1 - x,
                    [x](double k, double p1, double p0) { return ((2 * k - 1 - x) * p1 - (k - 1) * p0) / k; });
}
HB_HD double legendre(double x, double number) {
  const int64_t n = degree(number);
  if (n >= 0 && ::fabs(x) == 1) return x > 0 || n % 2 == 0 ? 1 : -1;
  return recurrence(n, 1, x, [x](double k, double p1, double p0) { return ((2 * k - 1) * x * p1 - (k - 1) * p0) / k; });
}

}  // namespace hb::math
