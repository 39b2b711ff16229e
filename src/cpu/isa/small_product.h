#pragma once
// Products of matrices so small that to prepare a library's product costs more than to compute it.

#include "cpu/gemm.h"
#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kSmallBytes = kIsaLevel >= 4 ? 64 : 32;
template <class C>
struct SmallVectorOf {
  typedef C type __attribute__((vector_size(kSmallBytes), aligned(1), may_alias));
};

/// out (k, width) = the transpose of in (n, k), four by four.
inline void pack_transposed(const float* in, int64_t stride, int64_t k, int64_t n, float* out, int64_t width) {
  typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
  typedef int Order __attribute__((vector_size(16)));
  const int64_t whole_k = k / 4 * 4, whole_n = n / 4 * 4;
  for (int64_t j = 0; j < whole_n; j += 4)
    for (int64_t p = 0; p < whole_k; p += 4) {
      Four r[4];
      for (int i = 0; i < 4; ++i) r[i] = *reinterpret_cast<const Four*>(in + (j + i) * stride + p);
      const Order low{0, 4, 1, 5}, high{2, 6, 3, 7}, first{0, 1, 4, 5}, second{2, 3, 6, 7};
      const Four a = __builtin_shuffle(r[0], r[1], low), b = __builtin_shuffle(r[2], r[3], low);
      const Four c = __builtin_shuffle(r[0], r[1], high), d = __builtin_shuffle(r[2], r[3], high);
      const Four column[4] = {__builtin_shuffle(a, b, first), __builtin_shuffle(a, b, second),
                              __builtin_shuffle(c, d, first), __builtin_shuffle(c, d, second)};
      for (int i = 0; i < 4; ++i) *reinterpret_cast<Four*>(out + (p + i) * width + j) = column[i];
    }
  for (int64_t j = 0; j < n; ++j)
    for (int64_t p = j < whole_n ? whole_k : 0; p < k; ++p) out[p * width + j] = in[j * stride + p];
}

/// b (k, n) as rows of whole vectors, zero after their end.
template <class T>
void pack_small(const Gemm& g, compute_t<T>* out, int64_t width) {
  const auto* b = static_cast<const T*>(g.b.data);
  bool done = false;
  if constexpr (std::is_same_v<T, float>)
    if (g.b.row == 1) pack_transposed(b, g.b.col, g.k, g.n, out, width), done = true;
  for (int64_t p = 0; p < g.k; ++p, out += width) {
    if (g.b.col == 1) {
      load(b + p * g.b.row, out, g.n);
    } else if (!done) {
      for (int64_t j = 0; j < g.n; ++j) out[j] = widen(b[p * g.b.row + j * g.b.col]);
    }
    for (int64_t j = g.n; j < width; ++j) out[j] = 0;
  }
}

/// sums (R, N vectors) of R rows of `a` (stride a_row) times N columns of vectors of packed b.
template <int R, int N, class T, class V>
void small_rows(const T* a, int64_t a_row, int64_t a_col, const compute_t<T>* b, int64_t width, int64_t k,
                V (*sums)[2]) {
  V acc[R][N] = {};
  for (int64_t p = 0; p < k; ++p) {
    const auto* const row = reinterpret_cast<const V*>(b + p * width);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const compute_t<T> factor = widen(a[r * a_row + p * a_col]);
#pragma GCC unroll 2
      for (int v = 0; v < N; ++v) acc[r][v] += factor * row[v];
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < N; ++v) sums[r][v] = acc[r][v];
}
template <int R, class T, class V>
void small_rows(bool pair, const T* a, const Gemm& g, const compute_t<T>* b, int64_t width, V (*sums)[2]) {
  if (pair)
    small_rows<R, 2>(a, g.a.row, g.a.col, b, width, g.k, sums);
  else
    small_rows<R, 1>(a, g.a.row, g.a.col, b, width, g.k, sums);
}

/// Writes `count` sums to a row of the result.
template <class T>
void put_small(const Gemm& g, T* out, const T* bias, const compute_t<T>* sums, int64_t count) {
  using C = compute_t<T>;
  const C alpha = static_cast<C>(g.alpha), beta = static_cast<C>(g.beta);
  for (int64_t j = 0; j < count; ++j) {
    C y = alpha * sums[j];
    if (beta != 0) y += beta * widen(out[j]);
    if (bias) y += widen(bias[j]);
    out[j] = narrow<T>(y);
  }
}

/// One matrix with k * n at most kSmallProduct, any strides.
template <class T>
void small_product(const Gemm& g) {
  using C = compute_t<T>;
  using V = typename SmallVectorOf<C>::type;
  constexpr int64_t kLanes = kSmallBytes / sizeof(C), kRows = kIsaLevel >= 4 ? 8 : 4;
  int64_t width = (g.n + kLanes - 1) / kLanes * kLanes;
  alignas(64) C memory[kSmallProduct];
  const C* packed = memory;
  if (kStoredAsComputed<T> && g.b.col == 1 && width == g.n)
    packed = static_cast<const C*>(g.b.data), width = g.b.row;
  else
    pack_small<T>(g, memory, width);
  const auto *a = static_cast<const T*>(g.a.data), *bias = static_cast<const T*>(g.bias);
  auto* c = static_cast<T*>(g.c.data);
  for (int64_t i = 0; i < g.m; i += kRows) {
    const int64_t rows = std::min(kRows, g.m - i);
    for (int64_t j = 0; j < g.n; j += 2 * kLanes) {
      V sums[kRows][2];
      const T* first = a + i * g.a.row;
      const bool pair = j + kLanes < g.n;
      int64_t done = 0;
      if (rows == kRows) {
        small_rows<kRows>(pair, first, g, packed + j, width, sums), done = kRows;
      } else if (rows >= kRows / 2) {
        small_rows<kRows / 2>(pair, first, g, packed + j, width, sums), done = kRows / 2;
      }
      for (; done < rows; ++done) small_rows<1>(pair, first + done * g.a.row, g, packed + j, width, sums + done);
      for (int64_t r = 0; r < rows; ++r) {
        const auto* const all = reinterpret_cast<const C*>(sums + r);
        T* const out = c + (i + r) * g.c.row + j;
        const int64_t count = std::min(2 * kLanes, g.n - j);
        if (count == 2 * kLanes)
          put_small(g, out, bias ? bias + j : nullptr, all, 2 * kLanes);
        else
          put_small(g, out, bias ? bias + j : nullptr, all, count);
      }
    }
  }
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
