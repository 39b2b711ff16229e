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
#include "formulas/math.h"

namespace hb::cpu::HB_ISA {
namespace {

/// What values of T are computed in.
template <class T>
using compute_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

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

/// e^x within 1 ULP or so; below the smallest normal number the result is 0.
inline __attribute__((always_inline)) float exp_of(float x) {
  const float clipped = x > 88.8f ? 88.8f : x < -87.4f ? -87.4f : x;
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = __builtin_fmaf(clipped, 1.44269504088896341f, magic);
  const float n = shifted - magic;
  float r = __builtin_fmaf(n, -0.693145751953125f, clipped);
  r = __builtin_fmaf(n, -1.42860677e-6f, r);
  float p = 1.9875691500e-4f;
  p = __builtin_fmaf(p, r, 1.3981999507e-3f);
  p = __builtin_fmaf(p, r, 8.3334519073e-3f);
  p = __builtin_fmaf(p, r, 4.1665795894e-2f);
  p = __builtin_fmaf(p, r, 1.6666665459e-1f);
  p = __builtin_fmaf(p, r, 5.0000001201e-1f);
  p = __builtin_fmaf(p, r * r, r) + 1.0f;
  // 2^n in two factors, as 2^128 itself is not a number.
  const int32_t whole = static_cast<int32_t>(n), half = whole >> 1, rest = whole - half;
  const int32_t bits0 = (half + 127) << 23, bits1 = (rest + 127) << 23;
  float s0, s1;
  std::memcpy(&s0, &bits0, 4);
  std::memcpy(&s1, &bits1, 4);
  const float y = p * s0 * s1;
  return x < -87.33f ? 0.0f : x > 88.72284f ? std::numeric_limits<float>::infinity() : y;
}
inline double exp_of(double x) { return math::exp(x); }

constexpr int64_t kPartials = 32;  // independent partial results: enough to fill the pipelines of either width

/// Sum of f(i) over n items. The lanes make the order of the sum fixed and the loop a vector loop.
template <class C, class F>
inline __attribute__((always_inline)) C sum_over(int64_t n, const F& f) {
  C lane[kPartials] = {};
  int64_t i = 0;
  for (; i + kPartials <= n; i += kPartials)
    for (int64_t j = 0; j < kPartials; ++j) lane[j] += f(i + j);
  for (int64_t width = kPartials / 2; width > 0; width /= 2)
    for (int64_t j = 0; j < width; ++j) lane[j] += lane[j + width];
  C total = lane[0];
  for (; i < n; ++i) total += f(i);
  return total;
}
/// The largest f(i); NaN loses, so that the caller's sums carry it.
template <class C, class F>
inline __attribute__((always_inline)) C max_over(int64_t n, const F& f) {
  C lane[kPartials];
  for (auto& l : lane) l = -std::numeric_limits<C>::infinity();
  int64_t i = 0;
  for (; i + kPartials <= n; i += kPartials)
    for (int64_t j = 0; j < kPartials; ++j) {
      const C x = f(i + j);
      lane[j] = x > lane[j] ? x : lane[j];
    }
  C top = lane[0];
  for (int64_t j = 1; j < kPartials; ++j) top = lane[j] > top ? lane[j] : top;
  for (; i < n; ++i) top = f(i) > top ? f(i) : top;
  return top;
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
