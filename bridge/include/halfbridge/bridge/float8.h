#pragma once
// <c10/util/Float8_e4m3fn.h> and its like: numbers of 8 bits as values. No tensor has these dtypes.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>

#include <halfbridge/dtype.h>
#include <halfbridge/macros.h>

namespace hb::bridge {

/// What a format makes of its bits: how many are the mantissa's, what is added to exponents, the code of the largest
/// number and of what lies beyond it.
template <int mantissa, int bias, uint8_t largest, uint8_t beyond, uint8_t nan, bool has_infinity, bool has_minus_zero>
struct Float8Format {
  static constexpr int kMantissa = mantissa;
  static constexpr uint8_t kLargest = largest;
  static constexpr bool kInfinity = has_infinity;
  static constexpr uint8_t kNaN = nan;

  static float decode(uint8_t code) {
    if constexpr (!has_minus_zero) {
      if (code == nan) return std::numeric_limits<float>::quiet_NaN();
    }
    const uint8_t magnitude = code & 0x7f;
    float value;
    if (magnitude > largest) {
      value = has_infinity && magnitude == beyond ? std::numeric_limits<float>::infinity()
                                                  : std::numeric_limits<float>::quiet_NaN();
    } else {
      const int exponent = magnitude >> mantissa, rest = magnitude & ((1 << mantissa) - 1);
      value = exponent == 0 ? std::ldexp(static_cast<float>(rest), 1 - bias - mantissa)
                            : std::ldexp(static_cast<float>(rest + (1 << mantissa)), exponent - bias - mantissa);
    }
    return code & 0x80 ? -value : value;
  }

  // To the nearest, ties to even.
  static uint8_t encode(float value) {
    const uint8_t sign = std::signbit(value) ? 0x80 : 0;
    const auto signed_code = [&](uint8_t code) -> uint8_t { return has_minus_zero ? sign | code : code; };
    if (std::isnan(value)) return signed_code(nan);
    if (std::isinf(value)) return signed_code(beyond);
    const float magnitude = std::fabs(value);
    int exponent = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
    auto steps = static_cast<int64_t>(std::nearbyint(std::ldexp(static_cast<double>(magnitude), mantissa - exponent)));
    // Where rounding gave the next power of two, the sum carries into the exponent.
    const int64_t code = (static_cast<int64_t>(exponent + bias - 1) << mantissa) + steps;
    if (code > largest) return signed_code(beyond);
    return code == 0 && !has_minus_zero ? 0 : static_cast<uint8_t>(sign | code);
  }
};

/// One of the formats as a type: arithmetic is float's, rounded to the format.
#define HB_FLOAT8(Name, ...)                                                                                    \
  struct alignas(1) Name {                                                                                      \
    using Format = Float8Format<__VA_ARGS__>;                                                                   \
    struct from_bits_t {};                                                                                      \
    static constexpr from_bits_t from_bits() { return from_bits_t(); }                                          \
    Name() = default;                                                                                           \
    constexpr Name(uint8_t bits, from_bits_t) : x(bits) {}                                                      \
    Name(float value) : x(Format::encode(value)) {}      /* NOLINT: implicit as in LibTorch */                  \
    operator float() const { return Format::decode(x); } /* NOLINT: implicit as in LibTorch */                  \
    bool isnan() const { return std::isnan(Format::decode(x)); }                                                \
    uint8_t x;                                                                                                  \
  };                                                                                                            \
  inline Name operator+(const Name& a, const Name& b) { return static_cast<float>(a) + static_cast<float>(b); } \
  inline Name operator-(const Name& a, const Name& b) { return static_cast<float>(a) - static_cast<float>(b); } \
  inline Name operator*(const Name& a, const Name& b) { return static_cast<float>(a) * static_cast<float>(b); } \
  inline Name operator/(const Name& a, const Name& b) { return static_cast<float>(a) / static_cast<float>(b); } \
  inline Name operator-(const Name& a) { return -static_cast<float>(a); }                                       \
  inline Name& operator+=(Name& a, const Name& b) { return a = a + b; }                                         \
  inline Name& operator-=(Name& a, const Name& b) { return a = a - b; }                                         \
  inline Name& operator*=(Name& a, const Name& b) { return a = a * b; }                                         \
  inline Name& operator/=(Name& a, const Name& b) { return a = a / b; }                                         \
  inline std::ostream& operator<<(std::ostream& out, const Name& value) { return out << static_cast<float>(value); }

HB_FLOAT8(Float8_e4m3fn, 3, 7, 0x7e, 0x7f, 0x7f, false, true)
HB_FLOAT8(Float8_e5m2, 2, 15, 0x7b, 0x7c, 0x7f, true, true)
HB_FLOAT8(Float8_e4m3fnuz, 3, 8, 0x7f, 0x80, 0x80, false, false)
HB_FLOAT8(Float8_e5m2fnuz, 2, 16, 0x7f, 0x80, 0x80, false, false)
#undef HB_FLOAT8

}  // namespace hb::bridge

// For data_ptr<c10::Float8_e4m3fn>() of programs, which throws: no tensor has the dtype.
#define HB_FLOAT8_DTYPE(Name)                             \
  template <>                                             \
  struct hb::dtype_of<hb::bridge::Name> {                 \
    static constexpr ScalarType value = ScalarType::Name; \
  };
HB_FLOAT8_DTYPE(Float8_e4m3fn)
HB_FLOAT8_DTYPE(Float8_e5m2)
HB_FLOAT8_DTYPE(Float8_e4m3fnuz)
HB_FLOAT8_DTYPE(Float8_e5m2fnuz)
#undef HB_FLOAT8_DTYPE

#define HB_FLOAT8_LIMITS(Name)                                                                           \
  template <>                                                                                            \
  class std::numeric_limits<hb::bridge::Name> {                                                          \
    using T = hb::bridge::Name;                                                                          \
    static constexpr T of(uint8_t bits) { return T(bits, T::from_bits()); }                              \
                                                                                                         \
   public:                                                                                               \
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false; \
    static constexpr bool has_infinity = T::Format::kInfinity, has_quiet_NaN = true;                     \
    static constexpr int digits = T::Format::kMantissa + 1, radix = 2;                                   \
    static constexpr T lowest() { return of(0x80 | T::Format::kLargest); }                               \
    static constexpr T max() { return of(T::Format::kLargest); }                                         \
    static constexpr T min() { return of(1 << T::Format::kMantissa); }                                   \
    static constexpr T denorm_min() { return of(1); }                                                    \
    static constexpr T quiet_NaN() { return of(T::Format::kNaN); }                                       \
    static constexpr T infinity() { return of(T::Format::kInfinity ? T::Format::kLargest + 1 : 0); }     \
  };
HB_FLOAT8_LIMITS(Float8_e4m3fn)
HB_FLOAT8_LIMITS(Float8_e5m2)
HB_FLOAT8_LIMITS(Float8_e4m3fnuz)
HB_FLOAT8_LIMITS(Float8_e5m2fnuz)
#undef HB_FLOAT8_LIMITS
