#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <type_traits>

#include "cpu/isa/bf16_lanes.h"
#include "cpu/isa/isa.h"
#include "formulas/compared.h"

namespace hb::cpu::HB_ISA {

/// One element. Floating to narrow integers goes by way of a wider one, so that it wraps as LibTorch's does.
template <class To, class From>
inline To convert(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (is_complex_v<To> && is_complex_v<From>) {
    return static_cast<To>(v);
  } else if constexpr (is_complex_v<To>) {
    return To(convert<typename To::value_type>(v));
  } else if constexpr (is_complex_v<From>) {  // the imaginary part is lost, but what is not zero stays true
    if constexpr (std::is_same_v<To, bool>)
      return static_cast<bool>(v);
    else
      return convert<To>(v.real());
  } else if constexpr (is_half_v<From>) {
    return convert<To>(static_cast<float>(v));
  } else if constexpr (is_half_v<To>) {
    return To(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4) {
    return static_cast<To>(static_cast<int32_t>(v));
  } else {
    return static_cast<To>(v);
  }
}

/// n consecutive elements. The compiler vectorises few loops with half types in them: these go by way of float.
template <class To, class From>
inline void convert_run(To* to, const From* from, int64_t n) {
  constexpr bool by_float =
      !is_complex_v<To> && !is_complex_v<From> &&
      ((std::is_same_v<From, Half> && !std::is_same_v<To, float>) || (is_half_v<To> && !std::is_same_v<From, float>));
  if constexpr (by_float) {
    constexpr int64_t kRun = 128;
    float wide[kRun];
    for (int64_t at = 0; at < n; at += kRun) {
      const int64_t count = n - at < kRun ? n - at : kRun;
      convert_run(wide, from + at, count);
      convert_run(to + at, wide, count);
    }
    return;
  }
  if constexpr (is_complex_v<To> || is_complex_v<From>) {
    for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
    return;
  } else if constexpr (std::is_same_v<From, bool> && std::is_arithmetic_v<To> && !std::is_same_v<To, bool>) {
    const auto* in = reinterpret_cast<const uint8_t*>(from);  // loads of bool are not vectorised
    HB_INDEPENDENT
    for (int64_t k = 0; k < n; ++k) to[k] = static_cast<To>(in[k] != 0);
    return;
  }
  int64_t i = 0;
  if constexpr (std::is_same_v<From, Half> && std::is_same_v<To, float>) {
    for (; i + 8 <= n; i += 8)
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, Half>) {
    for (; i + 8 <= n; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, BFloat16>) {
    for (; kStoresBf16Lanes && i + kBf16Lanes <= n; i += kBf16Lanes) store_bf16_lanes(from + i, to + i);
    auto* out = reinterpret_cast<uint16_t*>(to);
    HB_INDEPENDENT
    for (int64_t k = i; k < n; ++k) out[k] = bf16_bits(from[k]);
    return;
  } else if constexpr (std::is_same_v<From, BFloat16> && std::is_same_v<To, float>) {
    const auto* in = reinterpret_cast<const uint16_t*>(from);
    HB_INDEPENDENT
    for (i = 0; i < n; ++i) to[i] = std::bit_cast<float>(static_cast<uint32_t>(in[i]) << 16);
    return;
  }
  HB_INDEPENDENT
  for (; i < n; ++i) to[i] = convert<To>(from[i]);
}

}  // namespace hb::cpu::HB_ISA
