#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class Word>
inline void copy_ends(char* to, const char* from, size_t n) {
  Word first, last;
  std::memcpy(&first, from, sizeof(Word)), std::memcpy(&last, from + n - sizeof(Word), sizeof(Word));
  std::memcpy(to, &first, sizeof(Word)), std::memcpy(to + n - sizeof(Word), &last, sizeof(Word));
}

/// memcpy, except where that is slow: short runs, and (with `rep movsb` on AMD Zen 3 and 4, 17 times) a destination
/// that stands less than a vector after its source modulo the size of a page.
inline void copy_bytes(void* to_, const void* from_, size_t n) {
  auto* to = static_cast<char*>(to_);
  const auto* from = static_cast<const char*>(from_);
  if (n <= 64) {
    if (n >= 32) return copy_ends<__m256i>(to, from, n);
    if (n >= 16) return copy_ends<__m128i>(to, from, n);
    if (n >= 8) return copy_ends<uint64_t>(to, from, n);
    if (n >= 4) return copy_ends<uint32_t>(to, from, n);
    for (size_t i = 0; i < n; ++i) to[i] = from[i];
    return;
  }
  const size_t ahead = (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % 4096;
  if (n < 2048 || ahead == 0 || ahead >= 64) {
    std::memcpy(to, from, n);
    return;
  }
  size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + 32));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), a);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i + 32), b);
  }
  std::memcpy(to + i, from + i, n - i);
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
