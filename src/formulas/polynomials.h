#pragma once
// Orthogonal polynomials by their three-term recurrences, computed in double.

#include "formulas/vector_special.h"

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

/// The same of low degrees without branches; right: whether the degree is one of them and the result a finite number.
template <class Next>
HB_HD_ALWAYS double short_recurrence(double n, double p1, Next next, bool& right) {
  constexpr int kMost = 6;
  double p0 = 1, y = n < 1 ? p0 : p1;
#ifndef __CUDACC__
#pragma GCC unroll 5
#endif
  for (int k = 2; k <= kMost; ++k) {
    const double p2 = next(static_cast<double>(k), p1, p0);
    p0 = p1, p1 = p2;
    y = n < k ? y : p2;
  }
  right = (n > -1) & (n < kMost + 1) & (abs(y) < infinity<double>);
  return y;
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

/// Of degree 1.
template <Chebyshev kKind>
HB_HD_ALWAYS double chebyshev_of_one(double x) {
  if (kKind == Chebyshev::T) return x;
  return 2 * x + (kKind == Chebyshev::V ? -1 : kKind == Chebyshev::W ? 1 : 0);
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
  return recurrence(n, 1, chebyshev_of_one<kKind>(x), [x](double, double p1, double p0) { return 2 * x * p1 - p0; });
}
template <Chebyshev kKind>
HB_HD_ALWAYS double short_chebyshev(double x, double n, bool& right) {
  return short_recurrence(
      n, chebyshev_of_one<kKind>(x), [x](double, double p1, double p0) { return 2 * x * p1 - p0; }, right);
}

/// Of 2 x - 1.
template <Chebyshev kKind>
HB_HD double shifted_chebyshev(double x, double n) {
  return chebyshev<kKind>(2 * x - 1, n);
}
template <Chebyshev kKind>
HB_HD_ALWAYS double short_shifted_chebyshev(double x, double n, bool& right) {
  return short_chebyshev<kKind>(2 * x - 1, n, right);
}

/// The recurrences of other polynomials: p1(x), and next(k, p[k - 1], p[k - 2]).
struct HermiteH {  // the physicists'
  double x;
  HB_HD_ALWAYS double first() const { return 2 * x; }
  HB_HD_ALWAYS double operator()(double k, double p1, double p0) const { return 2 * (x * p1 - (k - 1) * p0); }
};
struct HermiteHe {  // the probabilists'
  double x;
  HB_HD_ALWAYS double first() const { return x; }
  HB_HD_ALWAYS double operator()(double k, double p1, double p0) const { return x * p1 - (k - 1) * p0; }
};
struct Laguerre {
  double x;
  HB_HD_ALWAYS double first() const { return 1 - x; }
  HB_HD_ALWAYS double operator()(double k, double p1, double p0) const {
    return ((2 * k - 1 - x) * p1 - (k - 1) * p0) / k;
  }
};
struct Legendre {
  double x;
  HB_HD_ALWAYS double first() const { return x; }
  HB_HD_ALWAYS double operator()(double k, double p1, double p0) const {
    return ((2 * k - 1) * x * p1 - (k - 1) * p0) / k;
  }
};
template <class Family>
HB_HD double polynomial(double x, double n) {
  return recurrence(degree(n), 1, Family{x}.first(), Family{x});
}
template <class Family>
HB_HD_ALWAYS double short_polynomial(double x, double n, bool& right) {
  return short_recurrence(n, Family{x}.first(), Family{x}, right);
}

HB_HD double laguerre(double x, double n) { return x == 0 ? (degree(n) < 0 ? 0 : 1) : polynomial<Laguerre>(x, n); }
HB_HD double legendre(double x, double n) {
  if (degree(n) >= 0 && ::fabs(x) == 1) return x > 0 || degree(n) % 2 == 0 ? 1 : -1;
  return polynomial<Legendre>(x, n);
}

}  // namespace hb::math
