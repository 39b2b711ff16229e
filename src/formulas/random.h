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
#include <halfbridge/error.h>

#include "formulas/math.h"

namespace hb::kernels {

constexpr double kPi = 3.14159265358979323846;

/// The type in which a distribution over T is computed.
template <typename T>
using compute_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

inline __attribute__((always_inline)) float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline __attribute__((always_inline)) double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// Random bits to [0, 1): as many low bits as T has digits.
template <typename T>
HB_HD __attribute__((always_inline)) compute_t<T> unit(uint64_t bits) {
  constexpr uint64_t kValues = uint64_t{1} << std::numeric_limits<T>::digits;
  using Bits = std::conditional_t<std::is_same_v<T, double>, uint64_t, uint32_t>;
  return static_cast<compute_t<T>>(static_cast<Bits>(bits & (kValues - 1))) * (compute_t<T>(1) / kValues);
}

/// Uniform over [from, to); `width` is to - from, rounded to T.
template <typename T>
inline __attribute__((always_inline)) T uniform(uint64_t bits, T from, T width) {
  return static_cast<T>(fused(unit<T>(bits), static_cast<compute_t<T>>(width), static_cast<compute_t<T>>(from)));
}

template <typename Rng>
HB_HD double unit_double(Rng& rng) {
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
    return static_cast<T>(static_cast<compute_t<T>>(bits % ((uint64_t{1} << std::numeric_limits<T>::digits) + 1)));
  }
}

/// Whether a uniform value of 53 bits, from two draws, is below threshold / 2^53.
inline __attribute__((always_inline)) bool below(uint32_t high, uint32_t low, uint64_t threshold) {
  return (((static_cast<uint64_t>(high) << 32) | low) & ((uint64_t{1} << 53) - 1)) < threshold;
}

/// A Poisson count of a rate that is not negative: by multiplying uniform values for small rates, by transformed
/// rejection (PTRS: W. Hoermann, 1993) from 10 on.
template <typename Rng>
HB_HD int64_t poisson(Rng& rng, double rate) {
  if (rate == 0) return 0;
  if (rate < 10) {
    const double limit = std::exp(-rate);
    int64_t count = 0;
    for (double product = unit_double(rng); product > limit; product *= unit_double(rng)) ++count;
    return count;
  }
  const double root = std::sqrt(rate), log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * root;
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = unit_double(rng) - 0.5;
    const double v = unit_double(rng);
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return static_cast<int64_t>(k);
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        -rate + k * log_rate - math::log_gamma(k + 1))
      return static_cast<int64_t>(k);
  }
}

/// log(k!) less Stirling's approximation of it.
HB_HD double stirling_rest(double k) {
  return math::log_gamma(k + 1) - (0.91893853320467274178 + (k + 0.5) * std::log(k + 1) - (k + 1));
}

/// Successes in `count` trials of probability p <= 1/2: by the gaps between successes where few are expected, else by
/// transformed rejection (BTRS: W. Hoermann, 1993).
template <typename Rng>
HB_HD double binomial_of_rare(Rng& rng, double count, double p) {
  if (count * p < 10) {
    const double log_failure = std::log1p(-p);
    double successes = 0;
    for (double trial = std::ceil(std::log(unit_double(rng)) / log_failure); trial <= count; ++successes)
      trial += std::ceil(std::log(unit_double(rng)) / log_failure);
    return successes;
  }
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double centre = count * p + 0.5, v_r = 0.92 - 4.2 / b, odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((count + 1) * p);
  while (true) {
    const double u = unit_double(rng) - 0.5, v = unit_double(rng);
    const double us = 0.5 - std::fabs(u), k = std::floor((2 * a / us + b) * u + centre);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > count) continue;
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) + stirling_rest(mode) +
                         stirling_rest(count - mode) - stirling_rest(k) - stirling_rest(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

/// Successes in `count` trials of probability p.
template <typename Rng>
HB_HD double binomial(Rng& rng, double count, double p) {
  if (std::isnan(count) || std::isnan(p)) return std::numeric_limits<double>::quiet_NaN();
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  return p <= 0.5 ? binomial_of_rare(rng, count, p) : count - binomial_of_rare(rng, count, 1 - p);
}

}  // namespace hb::kernels
