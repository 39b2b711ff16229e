#pragma once
// f16 on tiles of bf16. A half is the sum of two bf16 numbers: the rounded one and the rest, whose few bits fit
// exactly. A product of halves is the sum of four products of these, each exact in float; the smallest are summed
// first.

#include <atomic>

#include "cpu/amx/matrix.h"

namespace hb::cpu::amx {
namespace {

constexpr int64_t kProducts = 4;  // of parts, in one of halves
constexpr int kNotFinite = 0x99;  // of vfpclassps: NaN of both kinds and the infinities

/// The parts of 16 numbers. What is not finite has no rest.
inline void split_lanes(__m256i halves, __m256i& rounded, __m256i& rest) {
  const __m512 x = _mm512_cvtph_ps(halves);
  rounded = (__m256i)_mm512_cvtneps_pbh(x);
  const __mmask16 finite = ~_mm512_fpclass_ps_mask(x, kNotFinite);
  rest = (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_sub_ps(finite, x, widen(rounded)));
}

struct Parts {
  const BFloat16 *rounded, *rest;
  int64_t stride;
};

/// The parts of `lines` lines of `length` halves, in memory of the calling thread; zeros follow up to whole tiles in
/// both directions.
inline Parts split(const Half* in, int64_t lines, int64_t length, int64_t stride, Scratch slot) {
  const int64_t wide = round_up(length, kDepth), high_enough = round_up(lines, kDepth);
  auto* rounded = scratch<BFloat16>(slot, 2 * high_enough * wide);
  auto* rest = rounded + high_enough * wide;
  parallel_for(0, high_enough, std::max<int64_t>(1, kGrain / wide), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      for (int64_t j = 0; j < wide; j += 16) {
        const auto there = static_cast<__mmask16>(lanes(i < lines ? length - j : 0));
        __m256i high, low;
        split_lanes(_mm256_maskz_loadu_epi16(there, there ? in + i * stride + j : in), high, low);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(rounded + i * wide + j), high);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(rest + i * wide + j), low);
      }
  });
  return {rounded, rest, wide};
}

/// data = alpha values + bias, rounded to f16. Where a factor was not finite the sum of the products may be NaN
/// though that of the halves is infinite: `finite` becomes false then.
struct HalfStore {
  Half* data;
  int64_t row;
  const Half* bias;
  float alpha;
  std::atomic<bool>& finite;

  void operator()(int64_t m, int64_t n, int64_t rows, int64_t cols, const float* values, int64_t pitch) const {
    __mmask16 broken = 0;
    for (int64_t j = 0; j < cols; j += 16) {
      const auto there = static_cast<__mmask16>(lanes(cols - j));
      const __m512 by = _mm512_set1_ps(alpha);
      const __m512 add = bias ? _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(there, bias + n + j)) : _mm512_setzero_ps();
      for (int64_t i = 0; i < rows; ++i) {
        const __m512 x = _mm512_fmadd_ps(_mm512_loadu_ps(values + i * pitch + j), by, add);
        broken |= _mm512_fpclass_ps_mask(x, kNotFinite);
        _mm256_mask_storeu_epi16(data + (m + i) * row + n + j, there,
                                 _mm512_maskz_cvtps_ph(0xFFFF, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
      }
    }
    if (broken) finite = false;
  }
};

/// The left operand, four times as deep: rest, rest, rounded, rounded.
struct SplitRows {
  MatrixRows rounded, rest;
  int64_t depth;  // a multiple of kDepth

  Rows rows(int64_t m, int64_t rows, int64_t from, int64_t size, BFloat16* buffer) const {
    Rows all(0);
    each_stretch(depth, from, size, [&](int64_t product, int64_t k, int64_t n) {
      const Rows part = (product < 2 ? rest : rounded).rows(m, rows, k, n, buffer);
      all.stride = part.stride;
      all.add(part.pieces[0].data, part.pieces[0].steps);
      buffer += n;
    });
    return all;
  }
};

/// The right operand, four times as deep: rest, rounded, rest, rounded.
struct SplitColumns {
  MatrixColumns rounded, rest;
  int64_t depth;  // a multiple of kDepth

  void columns(int64_t n, int64_t cols, int64_t from, int64_t size, BFloat16* out) const {
    each_stretch(depth, from, size, [&](int64_t product, int64_t k, int64_t count) {
      (product % 2 == 0 ? rest : rounded).columns(n, cols, k, count, out);
      out += count * kBlock;
    });
  }
};

}  // namespace
}  // namespace hb::cpu::amx
