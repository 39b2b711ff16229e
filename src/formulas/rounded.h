#pragma once
// Functions whose vector variants in the C library are up to 4 rounding steps off: here within 1.5 steps, in plain
// arithmetic that compilers make vectors of. The methods are the well-known ones (W. J. Cody and W. Waite, Software
// Manual for the Elementary Functions, 1980: an argument is reduced by a constant in several parts; the logarithm's and
// asin's forms are those of J.-M. Muller, Elementary Functions, 2016), the polynomials interpolate at Chebyshev nodes.
// Sums whose rounding would show keep their rest. unit_tests/ops/rounding.cpp holds the table of errors.

#include <bit>
#include <concepts>

#include "formulas/math.h"
#include "formulas/rounded_constants.h"
#include "formulas/tanh.h"

// name_range(x): whether name_in_range(x), which makes better vectors, is right; its bits are those of name(x).
namespace hb::math::rounded {

template <class T>
inline auto bits(T x) {
  return std::bit_cast<typename Constants<T>::Bits>(x);
}
/// 2^k of shifted = k + magic.
template <class T>
inline T power(T shifted) {
  return std::bit_cast<T>((bits(shifted) << Constants<T>::mantissa) + bits(T(1)));
}

/// x = k ln(2) + r; exp(r) = 1 + (r + rest).
template <class T>
struct ExpParts {
  T shifted, r, rest;
};
template <class T>
inline ExpParts<T> exp_parts(T x) {
  using C = Constants<T>;
  const T shifted = fma(x, C::log2_e, C::magic), k = shifted - C::magic;
  const T r = fma(-k, C::ln2_rest, fma(-k, C::ln2, x));
  return {shifted, r, r * r * polynomial(C::exp_q, r)};
}
/// The same of 2^x; to take the whole part from x rounds nothing.
template <class T>
inline ExpParts<T> exp2_parts(T x) {
  using C = Constants<T>;
  const T shifted = x + C::magic, r = (x - (shifted - C::magic)) * T(0.693147180559945309417);
  return {shifted, r, r * r * polynomial(C::exp_q, r)};
}
/// What the parts stand for where the power of two is a number.
template <class T>
inline T joined_in_range(const ExpParts<T>& parts) {
  const auto& [shifted, r, rest] = parts;
  return fma(power(shifted), r + rest, power(shifted));
}
template <class T>
inline T exp_in_range(T x) {
  return joined_in_range(exp_parts(x));
}
template <class T>
inline T exp2_in_range(T x) {
  return joined_in_range(exp2_parts(x));
}
/// What the parts stand for, times 2^more. The power is applied in two steps, as it may be out of range where the
/// result is not.
template <class T>
inline T joined_times(const ExpParts<T>& parts, T more) {
  using C = Constants<T>;
  const auto& [shifted, r, rest] = parts;
  const T k = shifted - C::magic, shifted_half = fma(k, T(0.5), C::magic), half = power(shifted_half);
  return fma(half, r + rest, half) * power((k + more) - (shifted_half - C::magic) + C::magic);
}
/// exp(x) 2^more.
template <class T>
inline T exp_times(T x, T more) {
  return joined_times(exp_parts(x), more);
}
template <std::floating_point T>
inline bool exp_range(T x) {
  return abs(x) <= Constants<T>::exp_plain_end;
}
template <std::floating_point T>
inline bool exp2_range(T x) {
  return abs(x) <= Constants<T>::bias - 1;
}
template <class T>
inline T exp(T x) {
  using C = Constants<T>;
  const T low = x < C::exp_low ? C::exp_low : x;
  return exp_times(low > C::exp_high ? C::exp_high : low, T(0));
}
template <class T>
inline T exp2(T x) {
  using C = Constants<T>;
  const T low = x < C::exp2_low ? C::exp2_low : x, end = C::bias + 1;
  return joined_times(exp2_parts(low > end ? end : low), T(0));
}
template <class T>
inline T expm1(T x) {
  using C = Constants<T>;
  const T low = x < C::expm1_low ? C::expm1_low : x;
  const auto [shifted, r, rest] = exp_parts(low > C::exp_high ? C::exp_high : low);
  const T half = power(shifted - 1);
  return copysign(2 * fma(half, rest, fma(half, r, half - T(0.5))), x);
}
template <class T>
inline T cosh(T x) {
  const T size = abs(x), half = exp_times(size > Constants<T>::cosh_high ? Constants<T>::cosh_high : size, T(-1));
  return half + T(0.25) / half;
}
inline float sinh(float x) { return math::sinh(x); }  // within 2 steps, as LibTorch's is within 1
inline double sinh(double x) {
  using C = Constants<double>;
  const double size = abs(x), u = size * size, half = exp_times(size > C::cosh_high ? C::cosh_high : size, -1.);
  const double small = fma(size * u, polynomial(C::sinh_p, u), size), large = half - 0.25 / half;
  return copysign(size < 2 ? small : large, x);
}

struct Ln {};
struct Log2 {};
struct Log10 {};
/// x = 2^k (1 + f); log(1 + f) = f + rest.
template <class T>
struct LogParts {
  T k, f, rest;
};
/// Of x from the smallest normal number on.
template <class T>
inline LogParts<T> log_parts(T x) {
  using C = Constants<T>;
  constexpr T scale = T(int64_t{1} << C::mantissa);
  const auto shifted = bits(x) + (bits(T(1)) - bits(C::sqrt_half));
  const auto fraction = shifted & ((typename C::Bits{1} << C::mantissa) - 1);
  const T k = std::bit_cast<T>((shifted >> C::mantissa) | bits(scale)) - (scale + C::bias);
  const T f = std::bit_cast<T>(fraction + bits(C::sqrt_half)) - 1, square = f * f;
  if constexpr (sizeof(T) == 4) {
    return {k, f, fma(square * f, polynomial(C::log_p, f), T(-0.5) * square)};
  } else {
    const T s = f / (2 + f), z = s * s;
    return {k, f, fma(s, fma(z, polynomial(C::log_q, z), T(0.5) * square), T(-0.5) * square)};
  }
}
template <class T>
inline T log_of_parts(LogParts<T> p, Ln) {
  using C = Constants<T>;
  return fma(p.k, C::ln2_short, p.f + fma(p.k, C::ln2_short_rest, p.rest));
}
template <class T>
inline T log_of_parts(LogParts<T> p, Log2) {
  using C = Constants<T>;
  return p.k + fma(p.f, C::log2_e, fma(p.f, C::log2_e_rest, p.rest * C::log2_e));
}
template <class T>
inline T log_of_parts(LogParts<T> p, Log10) {
  using C = Constants<T>;
  const T one = fma(p.f, C::log10_e, fma(p.f, C::log10_e_rest, p.rest * C::log10_e));
  return fma(p.k, C::log10_2_short, fma(p.k, C::log10_2_short_rest, one));
}
template <class T>
inline bool is_normal_number(T x) {
  return x >= Constants<T>::smallest && x < infinity<T>;
}
/// Of any x.
template <class Base, class T>
inline T log_of(T x) {
  using C = Constants<T>;
  const bool tiny = x < C::smallest;
  auto parts = log_parts(tiny ? x * T(int64_t{1} << C::mantissa) : x);
  if (tiny) parts.k -= C::mantissa;
  const T y = log_of_parts(parts, Base()), positive = x > 0 ? y : x == 0 ? -infinity<T> : nan<T>;
  return x < infinity<T> ? positive : x;
}
inline double log(double x) { return math::log(x); }  // within 1.5 steps
template <std::same_as<float> T>
inline bool log_range(T x) {
  return is_normal_number(x);
}
inline float log_in_range(float x) { return log_of_parts(log_parts(x), Ln()); }
inline float log(float x) { return log_of<Ln>(x); }
template <std::floating_point T>
inline bool log2_range(T x) {
  return is_normal_number(x);
}
template <class T>
inline T log2_in_range(T x) {
  return log_of_parts(log_parts(x), Log2());
}
template <class T>
inline T log2(T x) {
  return log_of<Log2>(x);
}
template <std::floating_point T>
inline bool log10_range(T x) {
  return is_normal_number(x);
}
template <class T>
inline T log10_in_range(T x) {
  return log_of_parts(log_parts(x), Log10());
}
template <class T>
inline T log10(T x) {
  return log_of<Log10>(x);
}

/// |x| = k pi/2 + r, for |x| up to large_angle.
template <class T>
struct Angle {
  typename Constants<T>::Bits k;
  T r;
};
template <class T>
inline Angle<T> angle(T x) {
  using C = Constants<T>;
  const T size = abs(x), shifted = fma(size, T(0.63661977236758134308), C::magic), k = shifted - C::magic;
  return {bits(shifted), fma(-k, C::half_pi_3, fma(-k, C::half_pi_2, fma(-k, C::half_pi, size)))};
}
/// sin(r + k pi/2)
template <class T>
inline T sine_in_quadrant(Angle<T> angle, typename Constants<T>::Bits more) {
  using C = Constants<T>;
  const T r = angle.r, z = r * r;
  const T sine = fma(r * z, polynomial(C::sin_s, z), r);
  const T cosine = 1 - fma(-z * z, polynomial(C::cos_c, z), z * T(0.5));
  const auto k = angle.k + more;
  return std::bit_cast<T>(bits(k & 1 ? cosine : sine) ^ ((k & 2) << (sizeof(T) * 8 - 2)));
}
template <class T>
inline T sin_in_range(T x) {
  return std::bit_cast<T>(bits(sine_in_quadrant(angle(x), 0)) ^ (bits(x) & bits(T(-0.0))));
}
template <class T>
inline T cos_in_range(T x) {
  return sine_in_quadrant(angle(x), 1);
}
template <class T>
inline T tan_in_range(T x) {
  using C = Constants<T>;
  // As angle(x), and with what rounding r loses: the slope of tan makes it larger.
  const T size = abs(x), shifted = fma(size, T(0.63661977236758134308), C::magic), k = shifted - C::magic;
  const T first = fma(-k, C::half_pi, size), second = k * C::half_pi_2, r = first - second;
  const T lost = ((first - r) - second) - fma(k, C::half_pi_3, fma(k, C::half_pi_2, -second));
  const T z = r * r, t = fma(r * z, polynomial(C::tan_t, z), fma(lost, z, lost));
  const T even = r + t, even_rest = (r - even) + t;
  const T odd = -1 / even, off = fma(odd, even_rest, fma(odd, even, T(1)));
  return std::bit_cast<T>(bits(bits(shifted) & 1 ? fma(odd, off, odd) : even) ^ (bits(x) & bits(T(-0.0))));
}
template <class T>
inline bool is_large_angle(T x) {
  return abs(x) > Constants<T>::large_angle;
}
/// Of one large angle: not to be called for vectors, whose variant is less exact.
template <class T>
struct LargeAngle {
  [[gnu::noinline]] static T sin(T x) { return math::sin(x); }
  [[gnu::noinline]] static T cos(T x) { return math::cos(x); }
  [[gnu::noinline]] static T tan(T x) { return math::tan(x); }
};
template <std::floating_point T>
inline bool sin_range(T x) {
  return !is_large_angle(x);
}
template <class T>
inline T sin(T x) {
  return is_large_angle(x) ? LargeAngle<T>::sin(x) : sin_in_range(x);
}
template <std::floating_point T>
inline bool cos_range(T x) {
  return !is_large_angle(x);
}
template <class T>
inline T cos(T x) {
  return is_large_angle(x) ? LargeAngle<T>::cos(x) : cos_in_range(x);
}
template <std::floating_point T>
inline bool tan_range(T x) {
  return !is_large_angle(x);
}
template <class T>
inline T tan(T x) {
  return is_large_angle(x) ? LargeAngle<T>::tan(x) : tan_in_range(x);
}

/// asin(s) = s + s off; beyond 1/2 it is pi/2 - 2 asin(s) with s = sqrt((1 - |x|) / 2).
template <class T>
struct ArcParts {
  bool beyond;
  T s, off;
};
template <class T>
inline ArcParts<T> arc_parts(T x) {
  const T size = abs(x);
  const bool beyond = size > T(0.5);
  const T z = beyond ? (1 - size) * T(0.5) : size * size;
  return {beyond, beyond ? sqrt(z) : size, z * polynomial(Constants<T>::asin_p, z)};
}
template <class T>
inline T asin(T x) {
  using C = Constants<T>;
  const auto [beyond, s, off] = arc_parts(x);
  const T small = fma(s, off, s), large = fma(T(-2), s + fma(s, off, C::half_pi_2 * T(-0.5)), C::half_pi);
  return copysign(beyond ? large : small, x);
}
template <class T>
inline T acos(T x) {
  using C = Constants<T>;
  const auto [beyond, s, off] = arc_parts(x);
  const T small = C::half_pi - (x + fma(x, off, -C::half_pi_2)), near_1 = 2 * fma(s, off, s);
  const T near_minus_1 = fma(T(-2), s + fma(s, off, -C::half_pi_2), 2 * C::half_pi);
  return beyond ? (x > 0 ? near_1 : near_minus_1) : small;
}
template <class T>
inline T atan(T x) {
  using C = Constants<T>;
  const T size = abs(x);
  const bool beyond = size > 1;
  const T t = (beyond ? T(1) : size) / (beyond ? size : T(1)), z = t * t, off = t * z * polynomial(C::atan_p, z);
  return copysign(beyond ? C::half_pi - (t + (off - C::half_pi_2)) : t + off, x);
}

inline float erf(float x) {
  using C = Constants<float>;
  const float size = abs(x), u = size * size, end = size > 3.95f ? 3.95f : size;
  const float small = fma(size, polynomial(C::erf_small, u), size);
  const float large = 1 - exp_in_range(polynomial(C::erf_tail, end));
  return copysign(size < 0.9f ? small : large, x);
}
inline double erf(double x) {
  const double small = fma(x, polynomial(Constants<double>::erf_small, x * x), x), other = math::erf(x);
  return abs(x) < 0.25 ? small : other;
}

}  // namespace hb::math::rounded

namespace hb::formula {
#ifdef __CUDA_ARCH__
namespace exact = math;  // a GPU's functions are as exact
#else
namespace exact = math::rounded;
#endif
}  // namespace hb::formula
