#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <halfbridge/macros.h>
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
// Memory that a block shares cannot be set to zero by a type's constructor.
#define HB_ZERO_BITS
#else
#define HB_ZERO_BITS = 0
#endif

namespace hb {

/// IEEE 754 binary16, stored; arithmetic is done in float.
struct Half {
  uint16_t x HB_ZERO_BITS;
  Half() = default;
  struct from_bits_t {};
  HB_HOST_DEVICE static constexpr from_bits_t from_bits() { return {}; }
  HB_HOST_DEVICE constexpr Half(uint16_t bits, from_bits_t) : x(bits) {}
  HB_HOST_DEVICE Half(float value) : x(round(value)) {}  // NOLINT: implicit as in LibTorch
  HB_HOST_DEVICE operator float() const { return widen(x); }
#ifdef __CUDACC__
  HB_HOST_DEVICE Half(const __half& value) { std::memcpy(&x, &value, 2); }  // NOLINT
  HB_HOST_DEVICE operator __half() const {                                  // NOLINT
    __half value;
    std::memcpy(&value, &x, 2);
    return value;
  }
#endif

  HB_HOST_DEVICE static float widen(uint16_t h) {
#if defined(__CUDA_ARCH__)
    return __half2float(__ushort_as_half(h));
#elif defined(__F16C__) && defined(__FLT16_MAX__)
    _Float16 f;
    std::memcpy(&f, &h, 2);
    return static_cast<float>(f);
#else
    // The exponent is rebased by a multiplication, which also normalises subnormals.
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    uint32_t bits = static_cast<uint32_t>(h & 0x7fffu) << 13;
    float value;
    std::memcpy(&value, &bits, 4);
    value *= 0x1p112f;
    std::memcpy(&bits, &value, 4);
    if ((h & 0x7c00u) == 0x7c00u) bits |= 0x7f800000u;  // infinity and NaN
    bits |= sign;
    std::memcpy(&value, &bits, 4);
    return value;
#endif
  }
  HB_HOST_DEVICE static uint16_t round(float f) {
#if defined(__CUDA_ARCH__)
    return __half_as_ushort(__float2half_rn(f));
#elif defined(__F16C__) && defined(__FLT16_MAX__)
    const _Float16 h = static_cast<_Float16>(f);
    uint16_t out;
    std::memcpy(&out, &h, 2);
    return out;
#else
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u) return sign | 0x7e00u;   // NaN
    if (bits >= 0x477ff000u) return sign | 0x7c00u;  // rounds beyond the largest: infinity
    if (bits < 0x38800000u) {                        // subnormal or zero: align by an addition
      float value;
      std::memcpy(&value, &bits, 4);
      value += 0.5f;
      std::memcpy(&bits, &value, 4);
      return sign | static_cast<uint16_t>(bits - 0x3f000000u);
    }
    const uint32_t odd = (bits >> 13) & 1u;
    return sign | static_cast<uint16_t>((bits - 0x38000000u + 0xfffu + odd) >> 13);
#endif
  }
};

/// The upper half of a binary32, rounded to nearest even; arithmetic is done in float.
struct BFloat16 {
  uint16_t x HB_ZERO_BITS;
  BFloat16() = default;
  struct from_bits_t {};
  HB_HOST_DEVICE static constexpr from_bits_t from_bits() { return {}; }
  HB_HOST_DEVICE constexpr BFloat16(uint16_t bits, from_bits_t) : x(bits) {}
  HB_HOST_DEVICE BFloat16(float value) : x(round(value)) {}  // NOLINT: implicit as in LibTorch
  HB_HOST_DEVICE operator float() const { return widen(x); }
#ifdef __CUDACC__
  HB_HOST_DEVICE BFloat16(const __nv_bfloat16& value) { std::memcpy(&x, &value, 2); }  // NOLINT
  HB_HOST_DEVICE operator __nv_bfloat16() const {                                      // NOLINT
    __nv_bfloat16 value;
    std::memcpy(&value, &x, 2);
    return value;
  }
#endif

  HB_HOST_DEVICE static float widen(uint16_t h) {
    const uint32_t bits = static_cast<uint32_t>(h) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  HB_HOST_DEVICE static uint16_t round(float f) {
#if defined(__CUDA_ARCH__)
    return __bfloat16_as_ushort(__float2bfloat16_rn(f));
#else
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
#endif
  }
};

// As in LibTorch: with a half number, float and double stay what they are and integers become half.
#define HB_HALF_OPERATION(T, op)                                                            \
  HB_HOST_DEVICE inline T operator op(T a, T b) { return T(float(a) op float(b)); }         \
  HB_HOST_DEVICE inline T& operator op##=(T& a, T b) { return a = a op b; }                 \
  HB_HOST_DEVICE inline float operator op(T a, float b) { return float(a) op b; }           \
  HB_HOST_DEVICE inline float operator op(float a, T b) { return a op float(b); }           \
  HB_HOST_DEVICE inline double operator op(T a, double b) { return double(float(a)) op b; } \
  HB_HOST_DEVICE inline double operator op(double a, T b) { return a op double(float(b)); } \
  template <class I, class = std::enable_if_t<std::is_integral_v<I>>>                       \
  HB_HOST_DEVICE T operator op(T a, I b) {                                                  \
    return a op T(static_cast<float>(b));                                                   \
  }                                                                                         \
  template <class I, class = std::enable_if_t<std::is_integral_v<I>>>                       \
  HB_HOST_DEVICE T operator op(I a, T b) {                                                  \
    return T(static_cast<float>(a)) op b;                                                   \
  }
#define HB_HALF_ARITHMETIC(T) \
  HB_HALF_OPERATION(T, +)     \
  HB_HALF_OPERATION(T, -)     \
  HB_HALF_OPERATION(T, *)     \
  HB_HALF_OPERATION(T, /)     \
  HB_HOST_DEVICE inline T operator-(T a) { return T(static_cast<uint16_t>(a.x ^ 0x8000u), T::from_bits()); }
HB_HALF_ARITHMETIC(Half)
HB_HALF_ARITHMETIC(BFloat16)
#undef HB_HALF_OPERATION
#undef HB_HALF_ARITHMETIC
#undef HB_ZERO_BITS

#ifdef __CUDACC__
// CUDA's own half types compare, too: without these neither would be preferred.
#define HB_HALF_COMPARISON(T, op)                                                   \
  HB_HOST_DEVICE inline bool operator op(T a, T b) { return float(a) op float(b); } \
  template <class A, class = std::enable_if_t<std::is_arithmetic_v<A>>>             \
  HB_HOST_DEVICE bool operator op(T a, A b) {                                       \
    return float(a) op b;                                                           \
  }                                                                                 \
  template <class A, class = std::enable_if_t<std::is_arithmetic_v<A>>>             \
  HB_HOST_DEVICE bool operator op(A a, T b) {                                       \
    return a op float(b);                                                           \
  }
#define HB_HALF_COMPARISONS(T) \
  HB_HALF_COMPARISON(T, ==)    \
  HB_HALF_COMPARISON(T, !=)    \
  HB_HALF_COMPARISON(T, <)     \
  HB_HALF_COMPARISON(T, <=)    \
  HB_HALF_COMPARISON(T, >)     \
  HB_HALF_COMPARISON(T, >=)
HB_HALF_COMPARISONS(Half)
HB_HALF_COMPARISONS(BFloat16)
#undef HB_HALF_COMPARISONS
#undef HB_HALF_COMPARISON
#endif

}  // namespace hb

/// What is not named here (signs, infinities, rounding) is as in float.
template <>
struct std::numeric_limits<hb::Half> : std::numeric_limits<float> {
  static constexpr int digits = 11, digits10 = 3, max_digits10 = 5;
  static constexpr int min_exponent = -13, max_exponent = 16, min_exponent10 = -4, max_exponent10 = 4;
  HB_HOST_DEVICE static constexpr hb::Half bits(uint16_t x) { return {x, hb::Half::from_bits()}; }
  HB_HOST_DEVICE static constexpr hb::Half min() { return bits(0x0400); }
  HB_HOST_DEVICE static constexpr hb::Half lowest() { return bits(0xfbff); }
  HB_HOST_DEVICE static constexpr hb::Half max() { return bits(0x7bff); }
  HB_HOST_DEVICE static constexpr hb::Half epsilon() { return bits(0x1400); }
  HB_HOST_DEVICE static constexpr hb::Half infinity() { return bits(0x7c00); }
  HB_HOST_DEVICE static constexpr hb::Half quiet_NaN() { return bits(0x7e00); }
  HB_HOST_DEVICE static constexpr hb::Half signaling_NaN() { return bits(0x7d00); }
  HB_HOST_DEVICE static constexpr hb::Half denorm_min() { return bits(0x0001); }
  HB_HOST_DEVICE static constexpr hb::Half round_error() { return bits(0x3800); }
};
/// As for Half.
template <>
struct std::numeric_limits<hb::BFloat16> : std::numeric_limits<float> {
  static constexpr bool is_iec559 = false;
  static constexpr int digits = 8, digits10 = 2, max_digits10 = 4;
  HB_HOST_DEVICE static constexpr hb::BFloat16 bits(uint16_t x) { return {x, hb::BFloat16::from_bits()}; }
  HB_HOST_DEVICE static constexpr hb::BFloat16 min() { return bits(0x0080); }
  HB_HOST_DEVICE static constexpr hb::BFloat16 lowest() { return bits(0xff7f); }
  HB_HOST_DEVICE static constexpr hb::BFloat16 max() { return bits(0x7f7f); }
  HB_HOST_DEVICE static constexpr hb::BFloat16 epsilon() { return bits(0x3c00); }
  HB_HOST_DEVICE static constexpr hb::BFloat16 infinity() { return bits(0x7f80); }
  HB_HOST_DEVICE static constexpr hb::BFloat16 quiet_NaN() { return bits(0x7fc0); }
  HB_HOST_DEVICE static constexpr hb::BFloat16 signaling_NaN() { return bits(0x7f81); }
  HB_HOST_DEVICE static constexpr hb::BFloat16 denorm_min() { return bits(0x0001); }
  HB_HOST_DEVICE static constexpr hb::BFloat16 round_error() { return bits(0x3f00); }
};
