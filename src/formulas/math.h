#pragma once
// Mathematical functions under one name for float and double, for formulas.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "formulas/host_device.h"

// Loops that call these are vectorised with the GNU C library's vector variants (libmvec, at most 4 ULP).
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__CUDACC__)
#define HB_SIMD __attribute__((simd("notinbranch"), const))
#define HB_SIMD_1(name)                            \
  extern "C" HB_SIMD double name(double) noexcept; \
  extern "C" HB_SIMD float name##f(float) noexcept;
#define HB_SIMD_2(name)                                    \
  extern "C" HB_SIMD double name(double, double) noexcept; \
  extern "C" HB_SIMD float name##f(float, float) noexcept;
#else
#define HB_SIMD_1(name)
#define HB_SIMD_2(name)
#endif

#define HB_MATH_1(name)                              \
  HB_SIMD_1(name)                                    \
  namespace hb::math {                               \
  HB_HD float name(float x) { return ::name##f(x); } \
  HB_HD double name(double x) { return ::name(x); }  \
  }
#define HB_MATH_2(name)                                          \
  HB_SIMD_2(name)                                                \
  namespace hb::math {                                           \
  HB_HD float name(float x, float y) { return ::name##f(x, y); } \
  HB_HD double name(double x, double y) { return ::name(x, y); } \
  }
HB_MATH_1(exp)
HB_MATH_1(exp2)
HB_MATH_1(expm1)
HB_MATH_1(log)
HB_MATH_1(log2)
HB_MATH_1(log10)
HB_MATH_1(log1p)
HB_MATH_1(sin)
HB_MATH_1(cos)
HB_MATH_1(tan)
HB_MATH_1(asin)
HB_MATH_1(acos)
HB_MATH_1(atan)
HB_MATH_1(sinh)
HB_MATH_1(cosh)
HB_MATH_1(tanh)
HB_MATH_1(asinh)
HB_MATH_1(acosh)
HB_MATH_1(atanh)
HB_MATH_1(erf)
HB_MATH_1(erfc)
HB_MATH_2(pow)
HB_MATH_2(atan2)
HB_MATH_2(hypot)
#undef HB_MATH_1
#undef HB_MATH_2
#undef HB_SIMD_1
#undef HB_SIMD_2

namespace hb::math {
HB_HD float sqrt(float x) { return __builtin_sqrtf(x); }
HB_HD double sqrt(double x) { return __builtin_sqrt(x); }
HB_HD float floor(float x) { return __builtin_floorf(x); }
HB_HD double floor(double x) { return __builtin_floor(x); }
HB_HD float ceil(float x) { return __builtin_ceilf(x); }
HB_HD double ceil(double x) { return __builtin_ceil(x); }
HB_HD float trunc(float x) { return __builtin_truncf(x); }
HB_HD double trunc(double x) { return __builtin_trunc(x); }
/// To the nearest integer, halves to even.
HB_HD float rint(float x) { return __builtin_nearbyintf(x); }
HB_HD double rint(double x) { return __builtin_nearbyint(x); }
HB_HD float abs(float x) { return __builtin_fabsf(x); }
HB_HD double abs(double x) { return __builtin_fabs(x); }
HB_HD int64_t abs(int64_t x) { return x < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x; }
HB_HD float copysign(float x, float s) { return __builtin_copysignf(x, s); }
HB_HD double copysign(double x, double s) { return __builtin_copysign(x, s); }
HB_HD float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
HB_HD double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
/// The logarithm of |gamma(x)|, for any thread.
HB_HD double log_gamma(double x) {
#ifdef __CUDA_ARCH__
  return ::lgamma(x);
#else
  int sign;
  return ::lgamma_r(x, &sign);
#endif
}
HB_HD float fmod(float x, float y) { return ::fmodf(x, y); }
HB_HD double fmod(double x, double y) { return ::fmod(x, y); }

/// Real or complex: not an integer.
template <class T>
constexpr bool is_float = !std::is_integral_v<T>;
template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T nan = std::numeric_limits<T>::quiet_NaN();
template <class T>
HB_HD bool isnan(T x) {
  return x != x;
}
}  // namespace hb::math
