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

/// b (k, n) as rows of whole vectors, zero after their end.
template <class T>
void pack_small(const Gemm& g, compute_t<T>* out, int64_t width) {
  const auto* b = static_cast<const T*>(g.b.data);
  for (int64_t p = 0; p < g.k; ++p, out += width) {
    if (g.b.col == 1) {
      load(b + p * g.b.row, out, g.n);
    } else {
      for (int64_t j = 0; j < g.n; ++j) out[j] = widen(b[p * g.b.row + j * g.b.col]);
    }
    for (int64_t j = g.n; j < width; ++j) out[j] = 0;
  }
}

/// sums (R, vector) of R rows of `a` (stride a_row) times one column of vectors of packed b.
template <int R, class T, class V>
void small_rows(const T* a, int64_t a_row, int64_t a_col, const compute_t<T>* b, int64_t width, int64_t k, V* sums) {
  V acc[R] = {};
  for (int64_t p = 0; p < k; ++p) {
    const V row = *reinterpret_cast<const V*>(b + p * width);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) acc[r] += widen(a[r * a_row + p * a_col]) * row;
  }
  for (int r = 0; r < R; ++r) sums[r] = acc[r];
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
  constexpr int64_t kLanes = kSmallBytes / sizeof(C), kRows = 8;
  const int64_t width = (g.n + kLanes - 1) / kLanes * kLanes;
  alignas(64) C packed[kSmallProduct];
  pack_small<T>(g, packed, width);
  const auto *a = static_cast<const T*>(g.a.data), *bias = static_cast<const T*>(g.bias);
  auto* c = static_cast<T*>(g.c.data);
  for (int64_t i = 0; i < g.m; i += kRows) {
    const int64_t rows = std::min(kRows, g.m - i);
    for (int64_t j = 0; j < g.n; j += kLanes) {
      V sums[kRows];
      const T* first = a + i * g.a.row;
      if (rows == kRows) {
        small_rows<kRows>(first, g.a.row, g.a.col, packed + j, width, g.k, sums);
      } else {
        for (int64_t r = 0; r < rows; ++r)
          small_rows<1>(first + r * g.a.row, g.a.row, g.a.col, packed + j, width, g.k, sums + r);
      }
      for (int64_t r = 0; r < rows; ++r)
        put_small(g, c + (i + r) * g.c.row + j, bias ? bias + j : nullptr, reinterpret_cast<const C*>(sums + r),
                  std::min(kLanes, g.n - j));
    }
  }
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
