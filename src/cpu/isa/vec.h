#pragma once
// Plain loops that the compiler turns into vector code: conversions of half types, the exponential, sums in lanes.

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <halfbridge/dtype.h>

#include "backend/floating_switch.h"
#include "cpu/isa/isa.h"
#include "cpu/parallel.h"
#include "formulas/vector_special.h"

namespace hb::cpu::HB_ISA {
namespace {

/// What values of T are computed in.
template <class T>
using compute_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// The integer whose size T has, T where there is none.
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t,
                       std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 8, uint64_t, T>>>>;

inline float widen(float x) { return x; }
inline double widen(double x) { return x; }
inline float widen(BFloat16 x) { return BFloat16::widen(x.x); }
inline float widen(Half x) { return _cvtsh_ss(x.x); }  // not by _Float16, whose comparisons the compiler would call
template <class T>
inline T narrow(compute_t<T> x) {
  return T(x);
}

template <class T>
inline void load(const T* __restrict in, compute_t<T>* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = widen(in[i]);
}
template <class T>
inline void store(const compute_t<T>* __restrict in, T* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = narrow<T>(in[i]);
}

// The compiler does not vectorise conversions of f16 by itself.
#ifdef __AVX512F__
constexpr int64_t kHalfLanes = 16;
inline void load_lanes(const Half* in, float* out) {
  _mm512_storeu_ps(out, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in))));
}
inline void store_lanes(const float* in, Half* out) {
  // The form with a mask of all lanes: GCC 12 warns of the other's undefined operand.
  const __m256i half =
      _mm512_maskz_cvtps_ph(0xFFFF, _mm512_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), half);
}
#else
constexpr int64_t kHalfLanes = 8;
inline void load_lanes(const Half* in, float* out) {
  _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in))));
}
inline void store_lanes(const float* in, Half* out) {
  const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), half);
}
#endif
inline void load(const Half* __restrict in, float* __restrict out, int64_t n) {
  int64_t i = 0;
  for (; i + kHalfLanes <= n; i += kHalfLanes) load_lanes(in + i, out + i);
  for (; i < n; ++i) out[i] = widen(in[i]);
}
inline void store(const float* __restrict in, Half* __restrict out, int64_t n) {
  int64_t i = 0;
  for (; i + kHalfLanes <= n; i += kHalfLanes) store_lanes(in + i, out + i);
  for (; i < n; ++i) out[i] = narrow<Half>(in[i]);
}

using math::quick_exp;

constexpr int64_t kPartials = 32;  // independent partial results: enough to fill the pipelines of either width

constexpr int64_t kShort = 8;  // those of what is too short for them

/// Takes f(i) of items [0, n) into `lane`, item i into lane i % kShort or so: kLanes at once, then kShort. Says how
/// many are taken; fewer than kShort are left.
template <int64_t kLanes, class C, class F, class Take>
inline __attribute__((always_inline)) int64_t in_lanes(C* lane, int64_t n, const F& f, const Take& take) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t j = 0; j < kLanes; ++j) take(lane[j], f(i + j));
  if constexpr (kLanes > kShort)
    for (; i + kShort <= n; i += kShort)
      for (int64_t j = 0; j < kShort; ++j) take(lane[j], f(i + j));
  return i;
}

template <int64_t kLanes, class C, class F, class Take>
inline __attribute__((always_inline)) C over_lanes(C start, int64_t n, const F& f, const Take& take) {
  C lane[kLanes];
  for (auto& l : lane) l = start;
  int64_t i = in_lanes<kLanes>(lane, n, f, take);
  for (int64_t width = kLanes / 2; width > 0; width /= 2)
    for (int64_t j = 0; j < width; ++j) take(lane[j], lane[j + width]);
  C total = lane[0];
  for (; i < n; ++i) take(total, f(i));
  return total;
}

/// Sum of f(i) over n items. The lanes make the order of the sum fixed and the loop a vector loop.
template <class C, class F>
inline __attribute__((always_inline)) C sum_over(int64_t n, const F& f) {
  const auto add = [](C& sum, C x) { sum += x; };
  return n < kPartials ? over_lanes<kShort>(C(0), n, f, add) : over_lanes<kPartials>(C(0), n, f, add);
}
/// The largest f(i); NaN loses, so that the caller's sums carry it.
template <class C, class F>
inline __attribute__((always_inline)) C max_over(int64_t n, const F& f) {
  const auto larger = [](C& top, C x) { top = x > top ? x : top; };
  constexpr C least = -std::numeric_limits<C>::infinity();
  return n < kPartials ? over_lanes<kShort>(least, n, f, larger) : over_lanes<kPartials>(least, n, f, larger);
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
