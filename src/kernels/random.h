#pragma once
// Draws from distributions, written so that the numbers of LibTorch's CPU build come out: which bits of the
// twister are used, in which type each step is computed, and which multiply-adds are fused (its AVX2 build
// fuses them).
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include <halfbridge/dtype.h>

namespace hb::kernels {

constexpr double kPi = 3.14159265358979323846;

/// The type in which a distribution over T is computed.
template <typename T>
using compute_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

inline __attribute__((always_inline)) float fused(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
inline __attribute__((always_inline)) double fused(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

/// Random bits to [0, 1): as many low bits as T has digits.
template <typename T>
inline __attribute__((always_inline)) compute_t<T> unit(uint64_t bits) {
  constexpr uint64_t kValues = uint64_t{1} << std::numeric_limits<T>::digits;
  using Bits = std::conditional_t<std::is_same_v<T, double>, uint64_t, uint32_t>;
  return static_cast<compute_t<T>>(static_cast<Bits>(bits & (kValues - 1))) * (compute_t<T>(1) / kValues);
}

/// Uniform over [from, to); `width` is to - from, rounded to T.
template <typename T>
inline __attribute__((always_inline)) T uniform(uint64_t bits, T from, T width) {
  return static_cast<T>(
      fused(unit<T>(bits), static_cast<compute_t<T>>(width), static_cast<compute_t<T>>(from)));
}

template <typename Rng>
double unit_double(Rng& rng) {
  return unit<double>(rng.random64());
}

/// Box-Muller in double; the second of each pair waits in the generator for the next call.
template <typename Rng>
double normal(Rng& rng, double mean, double std) {
  if (const auto waiting = rng.next_double_normal_sample()) {
    rng.set_next_double_normal_sample(std::nullopt);
    return fused(*waiting, std, mean);
  }
  const double u1 = unit_double(rng);
  const double u2 = unit_double(rng);
  const double radius = std::sqrt(-2.0 * std::log1p(-u2));
  const double theta = 2.0 * kPi * u1;
  rng.set_next_double_normal_sample(radius * std::sin(theta));
  return fused(radius * std::cos(theta), std, mean);
}

/// Any of the 2^64 integers.
template <typename T>
T signed_bits(uint64_t bits) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(static_cast<int64_t>(bits));
  } else {
    return T(static_cast<float>(static_cast<int64_t>(bits)));
  }
}

/// Uniform integers: from [base, base + range).
template <typename T>
T integer(uint64_t bits, uint64_t range, int64_t base) {
  return signed_bits<T>(bits % range + static_cast<uint64_t>(base));
}

/// Any non-negative value of an integer type; of a floating type any integer up to 2^digits.
template <typename T>
T integer_any(uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return bits & 1;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits % (static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1));
  } else {
    return static_cast<T>(
        static_cast<compute_t<T>>(bits % ((uint64_t{1} << std::numeric_limits<T>::digits) + 1)));
  }
}

}  // namespace hb::kernels
