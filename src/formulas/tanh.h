#pragma once
// tanh within one rounding step, to the last bit near its ends: a decoder turns 1 - tanh(x) into a number again, and
// the vector variants of the C library stay below 1 for much longer than a rounded result does. Plain arithmetic, so
// that the ends of a loop compute what its vectors compute.

#include <array>
#include <bit>
#include <cstddef>

#include "formulas/math.h"

namespace hb::math {

template <class T>
struct TanhConstants;
template <>
struct TanhConstants<float> {
  using Bits = uint32_t;
  static constexpr int mantissa = 23;
  static constexpr float middle = 0.8f, saturated = 10, magic = 0x1.8p23f, ln2_high = 0x1.62e4p-1f,
                         ln2_low = 0x1.7f7d1cp-20f;
  /// tanh(x) = x + x^3 p(x^2) for |x| <= 1; the other formula is as exact from `middle` on.
  static constexpr std::array<float, 8> p{-0.333333332f,  0.133333107f,   -0.0539634147f,   0.0218295488f,
                                          -0.0086978475f, 0.00320680327f, -0.000923500766f, 0.000142793167f};
  /// exp(r) = 1 + r + r^2 q(r) for |r| <= ln(2) / 2.
  static constexpr std::array<float, 6> q{1.f / 2, 1.f / 6, 1.f / 24, 1.f / 120, 1.f / 720, 1.f / 5040};
};
template <>
struct TanhConstants<double> {
  using Bits = uint64_t;
  static constexpr int mantissa = 52;
  static constexpr double middle = 1, saturated = 22, magic = 0x1.8p52, ln2_high = 0x1.62e42fefap-1,
                          ln2_low = 0x1.cf79abc9e3b3ap-40;
  static constexpr std::array<double, 16> p{
      -0.33333333333333331,    0.13333333333333089,    -0.053968253968046373,   0.021869488529129053,
      -0.0088632354045777972,  0.0035921266793624822,  -0.0014558246920758366,  0.00058997929455250904,
      -0.00023895705207869575, 9.6462777024881475e-05, -3.8389607312278532e-05, 1.4606131081983178e-05,
      -4.9877598907746784e-06, 1.3791812462992858e-06, -2.6330766432618984e-07, 2.5155016195502991e-08};
  static constexpr std::array<double, 12> q{1. / 2,       1. / 6,        1. / 24,        1. / 120,
                                            1. / 720,     1. / 5040,     1. / 40320,     1. / 362880,
                                            1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800};
};

/// c[0] + c[1] x + ...
template <size_t I = 0, class T, size_t N>
HB_HD T polynomial(const std::array<T, N>& c, T x) {
  if constexpr (I + 1 == N)
    return c[I];
  else
    return c[I] + x * polynomial<I + 1>(c, x);
}

template <class T>
HB_HD T tanh_at_its_ends(T x) {
#ifdef __CUDA_ARCH__
  return ::tanh(x);  // a GPU's is as exact
#else
  using C = TanhConstants<T>;
  const T size = abs(x), u = x * x;
  const T small = size + size * (u * polynomial(C::p, u));
  // 1 - 2 / (exp(2 |x|) + 1), with exp = 2^k exp(r)
  const T y = 2 * (size > C::saturated ? C::saturated : size);
  const T shifted = y * T(1.4426950408889634) + C::magic, k = shifted - C::magic;
  const T r = (y - k * C::ln2_high) - k * C::ln2_low;
  const T fraction = 1 + (r + r * r * polynomial(C::q, r));
  const T power = std::bit_cast<T>((std::bit_cast<typename C::Bits>(shifted) << C::mantissa) +
                                   std::bit_cast<typename C::Bits>(T(1)));
  const T large = 1 - 2 / (fraction * power + 1);
  return copysign(size < C::middle ? small : large, x);
#endif
}

}  // namespace hb::math
