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

#ifdef __AVX512F__
using Widest = __m512i;
#else
using Widest = __m256i;
#endif

/// More than 64 bytes, by vectors; the last may write again what is there.
inline void copy_vectors(char* to, const char* from, size_t n) {
  constexpr size_t w = sizeof(Widest);
  Widest last, v;
  std::memcpy(&last, from + n - w, w);
  size_t i = 0;
  for (Widest v2; i + 2 * w < n; i += 2 * w) {  // two stores that fill a line, one behind the other, can become one
    std::memcpy(&v, from + i, w), std::memcpy(&v2, from + i + w, w);
    std::memcpy(to + i, &v, w), std::memcpy(to + i + w, &v2, w);
  }
  if (i + w < n) std::memcpy(&v, from + i, w), std::memcpy(to + i, &v, w);
  std::memcpy(to + n - w, &last, w);
}

/// memcpy, except where that is slow: runs of up to some pages, and (with `rep movsb` on AMD Zen 3 and 4, 17 times) a
/// destination that stands less than a vector after its source modulo the size of a page.
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
  if (n < 8192) return copy_vectors(to, from, n);
  const size_t ahead = (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % 4096;
  if (ahead == 0 || ahead >= 64) {
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
