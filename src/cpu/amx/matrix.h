#pragma once
// Operands and results of a product that are matrices in memory.

#include "backend/gemm.h"
#include "cpu/amx/product.h"

namespace hb::cpu::amx {
namespace {

/// Rows as they are copied into a block: zeros follow up to whole tiles.
inline Rows copy_rows(const BFloat16* in, int64_t stride, int64_t rows, int64_t depth, BFloat16* out) {
  for (int64_t i = 0; i < round_up(rows, kTile); ++i)
    for (int64_t k = 0; k < depth; k += kDepth)
      _mm512_storeu_si512(out + i * kRowPitch + k,
                          load_values(in + (i < rows ? i * stride + k : 0), i < rows ? depth - k : 0));
  return Rows(out, kRowPitch, round_up(depth, kDepth) / kDepth);
}

/// Rows from a matrix whose columns are dense: values of a row are `stride` apart.
inline Rows transpose_rows(const BFloat16* in, int64_t stride, int64_t rows, int64_t depth, BFloat16* out) {
  for (int64_t k = 0; k < depth; k += kDepth) {
    __m512i low[16], high[16];
    for (int64_t p = 0; p < 16; ++p) {
      const BFloat16* from = in + (k + 2 * p) * stride;
      const int64_t left = depth - k - 2 * p;
      interleave(left > 0 ? load_values(from, rows) : _mm512_setzero_si512(),
                 left > 1 ? load_values(from + stride, rows) : _mm512_setzero_si512(), low[p], high[p]);
    }
    transpose_pairs(low);
    for (int64_t i = 0; i < kTile; ++i) _mm512_storeu_si512(out + i * kRowPitch + k, low[i]);
    if (rows <= kTile) continue;
    transpose_pairs(high);
    for (int64_t i = 0; i < kTile; ++i) _mm512_storeu_si512(out + (kTile + i) * kRowPitch + k, high[i]);
  }
  return Rows(out, kRowPitch, round_up(depth, kDepth) / kDepth);
}

/// Packs columns from next(), which gives 32 of them at one value of depth after the other, zeros beyond the last.
template <class Next>
void interleave_columns(int64_t depth, BFloat16* out, Next next) {
  for (int64_t steps = (depth + kDepth - 1) / kDepth; steps > 0; --steps, out += kStep)
    for (int64_t p = 0; p < 16; ++p) {
      __m512i first, last;
      const __m512i one = next(), two = next();
      interleave(one, two, first, last);
      _mm512_storeu_si512(out + p * 32, first);
      _mm512_storeu_si512(out + kStep / 2 + p * 32, last);
    }
}

/// Columns of a matrix whose rows (the values of equal depth) are dense and `stride` apart.
inline void interleave_columns(const BFloat16* in, int64_t stride, int64_t cols, int64_t depth, BFloat16* out) {
  int64_t left = depth;
  interleave_columns(depth, out, [&] {
    const __m512i row = left > 0 ? load_values(in, cols) : _mm512_setzero_si512();
    if (--left > 0) in += stride;
    return row;
  });
}

/// Columns that are dense themselves, `stride` apart.
inline void transpose_columns(const BFloat16* in, int64_t stride, int64_t cols, int64_t depth, BFloat16* out) {
  for (int64_t k = 0; k < depth; k += kDepth, out += kStep)
    for (int64_t half = 0; half < kBlock; half += kTile) {
      __m512i r[16];
      for (int64_t j = 0; j < kTile; ++j) {
        const bool there = half + j < cols;
        r[j] = load_values(in + (there ? (half + j) * stride + k : 0), there ? depth - k : 0);
      }
      transpose_pairs(r);
      for (int64_t p = 0; p < kTile; ++p) _mm512_storeu_si512(out + half * kDepth + p * 32, r[p]);
    }
}

/// The left operand: a stride of 1 in one dimension.
struct MatrixRows {
  const BFloat16* data;
  int64_t row, col;

  Rows rows(int64_t m, int64_t rows, int64_t k, int64_t depth, BFloat16* buffer) const {
    const BFloat16* in = data + m * row + k * col;
    if (col != 1) return transpose_rows(in, col, rows, depth, buffer);
    if (rows % kTile == 0 && depth % kDepth == 0) return Rows(in, row, depth / kDepth);
    return copy_rows(in, row, rows, depth, buffer);
  }
};

/// The right operand: a stride of 1 in one dimension.
struct MatrixColumns {
  const BFloat16* data;
  int64_t row, col;

  void columns(int64_t n, int64_t cols, int64_t k, int64_t depth, BFloat16* out) const {
    const BFloat16* in = data + k * row + n * col;
    if (col == 1) return interleave_columns(in, row, cols, depth, out);
    transpose_columns(in, col, cols, depth, out);
  }
};

inline __m512 widen(__m256i x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)); }

/// data = alpha values + beta data + bias, rounded to bf16.
struct MatrixStore {
  BFloat16* data;
  int64_t row;
  const BFloat16* bias = nullptr;
  float alpha = 1, beta = 0;

  void operator()(int64_t m, int64_t n, int64_t rows, int64_t cols, const float* values, int64_t pitch) const {
    const __mmask32 there = lanes(cols);
    const auto both = [&](const BFloat16* in, __m512& low, __m512& high) {
      const __m512i x = _mm512_maskz_loadu_epi16(there, in);
      low = widen(_mm512_castsi512_si256(x)), high = widen(_mm512_extracti64x4_epi64(x, 1));
    };
    __m512 add_low = _mm512_setzero_ps(), add_high = add_low;
    if (bias) both(bias + n, add_low, add_high);
    const __m512 by = _mm512_set1_ps(alpha), keep = _mm512_set1_ps(beta);
    for (int64_t i = 0; i < rows; ++i) {
      BFloat16* out = data + (m + i) * row + n;
      __m512 low = _mm512_fmadd_ps(_mm512_loadu_ps(values + i * pitch), by, add_low);
      __m512 high = _mm512_fmadd_ps(_mm512_loadu_ps(values + i * pitch + 16), by, add_high);
      if (beta != 0) {
        __m512 old_low, old_high;
        both(out, old_low, old_high);
        low = _mm512_fmadd_ps(old_low, keep, low), high = _mm512_fmadd_ps(old_high, keep, high);
      }
      _mm512_mask_storeu_epi16(out, there, (__m512i)_mm512_cvtne2ps_pbh(high, low));
    }
  }
};

/// data = alpha values + beta data, in float.
struct FloatStore {
  float* data;
  int64_t row;
  float alpha, beta;

  void operator()(int64_t m, int64_t n, int64_t rows, int64_t cols, const float* values, int64_t pitch) const {
    for (int64_t i = 0; i < rows; ++i) {
      float* out = data + (m + i) * row + n;
      const float* in = values + i * pitch;
      if (beta == 0) {
        for (int64_t j = 0; j < cols; ++j) out[j] = alpha * in[j];
      } else {
        for (int64_t j = 0; j < cols; ++j) out[j] = alpha * in[j] + beta * out[j];
      }
    }
  }
};

}  // namespace
}  // namespace hb::cpu::amx
