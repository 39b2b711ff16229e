#pragma once
// Runs of floats stored as bf16. For AVX2 with its own instructions: compilers pack words there in twice as many steps.
// Where the order of numbers does not matter, two in a word of 32 bits are read and written with a shift and a mask.

#include <immintrin.h>

#include <bit>
#include <cstdint>

#include <halfbridge/half.h>

#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {

/// The bits of x as bf16, in arithmetic that becomes vector code.
inline __attribute__((always_inline)) uint16_t bf16_bits(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

constexpr int64_t kBf16Lanes = 16;  // numbers that are stored at once

#ifdef __AVX512F__
constexpr bool kStoresBf16Lanes = false;  // a plain loop is as fast
inline void store_bf16_lanes(const float*, BFloat16*) {}
#else
constexpr bool kStoresBf16Lanes = true;

/// The bits of eight numbers as bf16, in words; as bf16_bits().
inline __m256i bf16_words(const float* x) {
  const __m256 numbers = _mm256_loadu_ps(x);
  const __m256i bits = _mm256_castps_si256(numbers);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(numbers, numbers, _CMP_UNORD_Q));
  return _mm256_srli_epi32(_mm256_blendv_epi8(rounded, _mm256_set1_epi32(0x7fc00000), nan), 16);
}
inline void store_bf16_lanes(const float* x, BFloat16* to) {
  const __m256i packed = _mm256_packus_epi32(bf16_words(x), bf16_words(x + 8));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permute4x64_epi64(packed, 0xd8));
}
#endif

namespace {

/// Two numbers in a word.
using Bf16Pair [[gnu::aligned(2), gnu::may_alias]] = uint32_t;
inline __attribute__((always_inline)) float low_of(uint32_t pair) { return std::bit_cast<float>(pair << 16); }
inline __attribute__((always_inline)) float high_of(uint32_t pair) { return std::bit_cast<float>(pair & 0xffff0000u); }
inline __attribute__((always_inline)) uint32_t pair_of(float low, float high) {
  const auto rounded = [](float x) __attribute__((always_inline)) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    return x != x ? 0x7fc00000u : bits + 0x7fffu + ((bits >> 16) & 1u);
  };
  return (rounded(low) >> 16) | (rounded(high) & 0xffff0000u);
}

/// to[i] = value(i), computed for a run before it is stored: it may stand where operands stand. Says how many are done.
template <class Value>
inline __attribute__((always_inline)) int64_t store_bf16_runs(BFloat16* to, int64_t n, const Value& value) {
  if constexpr (!kStoresBf16Lanes) return 0;
  constexpr int64_t kRun = 4 * kBf16Lanes;
  int64_t i = 0;
  for (; i + kRun <= n; i += kRun) {
    float run[kRun];
    HB_INDEPENDENT
    for (int64_t k = 0; k < kRun; ++k) run[k] = value(i + k);
    for (int64_t k = 0; k < kRun; k += kBf16Lanes) store_bf16_lanes(run + k, to + i + k);
  }
  return i;
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
