#pragma once
// <c10/util/safe_numerics.h> and <c10/util/TypeCast.h>: arithmetic and conversions that say when they overflow.

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <halfbridge/complex.h>
#include <halfbridge/half.h>

namespace hb::bridge {

template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
bool add_overflows(T a, T b, T* out) {
  return __builtin_add_overflow(a, b, out);
}
template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
bool mul_overflows(T a, T b, T* out) {
  return __builtin_mul_overflow(a, b, out);
}
/// The product of a range or a container; true where it does not fit.
template <typename It>
bool safe_multiplies_u64(It first, It last, uint64_t* out) {
  bool overflow = false;
  for (*out = 1; first != last; ++first) overflow |= mul_overflows(*out, static_cast<uint64_t>(*first), out);
  return overflow;
}
template <typename Container>
bool safe_multiplies_u64(const Container& c, uint64_t* out) {
  return safe_multiplies_u64(c.begin(), c.end(), out);
}

/// Whether `value` lies outside of To's range. Infinity and NaN fit where To has them; a negative integer fits an
/// unsigned type where its absolute value does, unless `strict_unsigned`.
template <typename To, typename From>
bool overflows(From value, bool strict_unsigned = false) {
  using Limits = std::numeric_limits<To>;
  if constexpr (is_complex_v<From>) {
    if constexpr (is_complex_v<To>) {
      using Part = typename To::value_type;
      return overflows<Part>(value.real()) || overflows<Part>(value.imag());
    } else {
      return value.imag() != 0 || overflows<To>(value.real());
    }
  } else if constexpr (is_complex_v<To>) {
    return overflows<typename To::value_type>(value);
  } else if constexpr (std::is_same_v<To, bool>) {
    return false;
  } else if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    if constexpr (std::is_signed_v<From> && !std::is_signed_v<To>) {
      if (value < 0) return strict_unsigned || uint64_t{0} - static_cast<uint64_t>(value) > uint64_t{Limits::max()};
    }
    To same;
    return __builtin_add_overflow(value, From{0}, &same);
  } else if constexpr (std::is_integral_v<From>) {
    return static_cast<double>(value) > static_cast<double>(Limits::max()) ||
           static_cast<double>(value) < static_cast<double>(Limits::lowest());
  } else {
    const auto wide = static_cast<double>(value);
    if (std::isinf(wide) && Limits::has_infinity) return false;
    if (std::isnan(wide)) return !Limits::has_quiet_NaN;
    return wide < static_cast<double>(Limits::lowest()) || wide > static_cast<double>(Limits::max());
  }
}

/// As a C++ conversion does it; of a complex number the real part where the other is none.
template <typename To, typename From>
To convert(From from) {
  if constexpr (is_complex_v<From> && !is_complex_v<To>)
    return static_cast<To>(from.real());
  else
    return static_cast<To>(from);
}
/// Throws std::runtime_error for what does not fit.
template <typename To, typename From>
To checked_convert(From from, const char* name) {
  if (overflows<To>(from))
    throw std::runtime_error("value cannot be converted to type " + std::string(name) + " without overflow");
  return convert<To>(from);
}

}  // namespace hb::bridge
