#pragma once
// Arithmetic and checks of numbers that kernels of extensions take from ATen: <ATen/ceil_div.h>, <ATen/div_rtn.h>,
// <ATen/NumericUtils.h>, <ATen/core/MT19937RNGEngine.h>.

#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>

#include <halfbridge/half.h>

namespace hb::bridge {

/// The quotient, rounded towards minus infinity.
template <typename T>
constexpr T div_rtn(T x, T y) {
  const int quotient = x / y, rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? quotient - 1 : quotient;
}

inline namespace api {

/// The quotient, rounded up.
template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}
/// The least multiple of b that is not less than a.
template <typename T>
constexpr T round_up(T a, T b) {
  return ceil_div(a, b) * b;
}
template <typename T>
bool _isnan(T value) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else if constexpr (std::is_convertible_v<T, float>)
    return std::isnan(static_cast<float>(value));
  else  // complex
    return std::isnan(value.real()) || std::isnan(value.imag());
}
template <typename T>
bool _isinf(T value) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else if constexpr (std::is_floating_point_v<T>)
    return std::isinf(value);
  else
    return std::isinf(static_cast<float>(value));
}

/// The Mersenne twister whose numbers the CPU's generator draws.
class mt19937 {
 public:
  explicit mt19937(uint64_t seed = 5489) : seed_(seed), engine_(static_cast<uint32_t>(seed)) {}
  uint64_t seed() const { return seed_; }
  bool is_valid() const { return true; }
  uint32_t operator()() { return static_cast<uint32_t>(engine_()); }

 private:
  uint64_t seed_;
  std::mt19937 engine_;
};

}  // namespace api
}  // namespace hb::bridge
