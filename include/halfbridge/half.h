#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

namespace hb {

/// IEEE 754 binary16, stored; arithmetic is done in float.
struct Half {
  uint16_t x = 0;
  Half() = default;
  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }
  constexpr Half(uint16_t bits, from_bits_t) : x(bits) {}
  Half(float value) : x(round(value)) {}  // NOLINT: implicit as in LibTorch
  operator float() const { return widen(x); }

  static float widen(uint16_t h) {
#if defined(__F16C__) && defined(__FLT16_MAX__)
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
  static uint16_t round(float f) {
#if defined(__F16C__) && defined(__FLT16_MAX__)
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
  uint16_t x = 0;
  BFloat16() = default;
  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }
  constexpr BFloat16(uint16_t bits, from_bits_t) : x(bits) {}
  BFloat16(float value) : x(round(value)) {}  // NOLINT: implicit as in LibTorch
  operator float() const { return widen(x); }

  static float widen(uint16_t h) {
    const uint32_t bits = static_cast<uint32_t>(h) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  static uint16_t round(float f) {
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
};

#define HB_HALF_ARITHMETIC(T)                                                                 \
  inline T operator+(T a, T b) { return T(float(a) + float(b)); }                             \
  inline T operator-(T a, T b) { return T(float(a) - float(b)); }                             \
  inline T operator*(T a, T b) { return T(float(a) * float(b)); }                             \
  inline T operator/(T a, T b) { return T(float(a) / float(b)); }                             \
  inline T operator-(T a) { return T(static_cast<uint16_t>(a.x ^ 0x8000u), T::from_bits()); } \
  inline T& operator+=(T& a, T b) { return a = a + b; }                                       \
  inline T& operator-=(T& a, T b) { return a = a - b; }                                       \
  inline T& operator*=(T& a, T b) { return a = a * b; }                                       \
  inline T& operator/=(T& a, T b) { return a = a / b; }                                       \
  inline float operator+(T a, float b) { return float(a) + b; }                               \
  inline float operator-(T a, float b) { return float(a) - b; }                               \
  inline float operator*(T a, float b) { return float(a) * b; }                               \
  inline float operator/(T a, float b) { return float(a) / b; }                               \
  inline float operator+(float a, T b) { return a + float(b); }                               \
  inline float operator-(float a, T b) { return a - float(b); }                               \
  inline float operator*(float a, T b) { return a * float(b); }                               \
  inline float operator/(float a, T b) { return a / float(b); }
HB_HALF_ARITHMETIC(Half)
HB_HALF_ARITHMETIC(BFloat16)
#undef HB_HALF_ARITHMETIC

}  // namespace hb

/// What is not named here (signs, infinities, rounding) is as in float.
template <>
struct std::numeric_limits<hb::Half> : std::numeric_limits<float> {
  static constexpr int digits = 11, digits10 = 3, max_digits10 = 5;
  static constexpr int min_exponent = -13, max_exponent = 16, min_exponent10 = -4, max_exponent10 = 4;
  static constexpr hb::Half bits(uint16_t x) { return {x, hb::Half::from_bits()}; }
  static constexpr hb::Half min() { return bits(0x0400); }
  static constexpr hb::Half lowest() { return bits(0xfbff); }
  static constexpr hb::Half max() { return bits(0x7bff); }
  static constexpr hb::Half epsilon() { return bits(0x1400); }
  static constexpr hb::Half infinity() { return bits(0x7c00); }
  static constexpr hb::Half quiet_NaN() { return bits(0x7e00); }
  static constexpr hb::Half signaling_NaN() { return bits(0x7d00); }
  static constexpr hb::Half denorm_min() { return bits(0x0001); }
  static constexpr hb::Half round_error() { return bits(0x3800); }
};
/// As for Half.
template <>
struct std::numeric_limits<hb::BFloat16> : std::numeric_limits<float> {
  static constexpr bool is_iec559 = false;
  static constexpr int digits = 8, digits10 = 2, max_digits10 = 4;
  static constexpr hb::BFloat16 bits(uint16_t x) { return {x, hb::BFloat16::from_bits()}; }
  static constexpr hb::BFloat16 min() { return bits(0x0080); }
  static constexpr hb::BFloat16 lowest() { return bits(0xff7f); }
  static constexpr hb::BFloat16 max() { return bits(0x7f7f); }
  static constexpr hb::BFloat16 epsilon() { return bits(0x3c00); }
  static constexpr hb::BFloat16 infinity() { return bits(0x7f80); }
  static constexpr hb::BFloat16 quiet_NaN() { return bits(0x7fc0); }
  static constexpr hb::BFloat16 signaling_NaN() { return bits(0x7f81); }
  static constexpr hb::BFloat16 denorm_min() { return bits(0x0001); }
  static constexpr hb::BFloat16 round_error() { return bits(0x3f00); }
};
