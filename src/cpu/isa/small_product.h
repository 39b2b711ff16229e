#pragma once
// Products of matrices so small that to prepare a library's product costs more than to compute it.

#include "cpu/gemm.h"
#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int kSmallBytes = kIsaLevel >= 4 ? 64 : 32;
template <class C, int bytes>
struct SmallVector {
  typedef C type __attribute__((vector_size(bytes), aligned(1), may_alias));
};

/// Four rows of four columns each in a vector's parts of 16 bytes, which `rows` names, transposed within the parts.
template <int bytes>
void transpose_parts(const float* const* rows, int64_t p, float* const* out) {
  typedef float Part __attribute__((vector_size(16), aligned(4), may_alias));
  using V = typename SmallVector<float, bytes>::type;
  constexpr int kParts = bytes / 16;
  V r[4];
  for (int i = 0; i < 4; ++i) {
    const auto part = [&](int l) { return *reinterpret_cast<const Part*>(rows[4 * l + i] + p); };
    if constexpr (kParts == 1) {
      r[i] = part(0);
    } else {
      const auto low = __builtin_shufflevector(part(0), part(1), 0, 1, 2, 3, 4, 5, 6, 7);
      if constexpr (kParts == 2) {
        r[i] = low;
      } else {
        const auto high = __builtin_shufflevector(part(2), part(3), 0, 1, 2, 3, 4, 5, 6, 7);
        r[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      }
    }
  }
  typedef int Order __attribute__((vector_size(bytes)));
  constexpr int n = bytes / 4;  // the second operand's first element
  const auto within = [](int a, int b, int c, int d) {
    const int of[4] = {a, b, c, d};
    int at[n];
    for (int i = 0; i < n; ++i) at[i] = of[i % 4] + i / 4 * 4;
    Order order;
    std::memcpy(&order, at, sizeof order);
    return order;
  };
  const Order low = within(0, n, 1, n + 1), high = within(2, n + 2, 3, n + 3), first = within(0, 1, n, n + 1),
              second = within(2, 3, n + 2, n + 3);
  const V a = __builtin_shuffle(r[0], r[1], low), b = __builtin_shuffle(r[2], r[3], low);
  const V c = __builtin_shuffle(r[0], r[1], high), d = __builtin_shuffle(r[2], r[3], high);
  *reinterpret_cast<V*>(out[0]) = __builtin_shuffle(a, b, first);
  *reinterpret_cast<V*>(out[1]) = __builtin_shuffle(a, b, second);
  *reinterpret_cast<V*>(out[2]) = __builtin_shuffle(c, d, first);
  *reinterpret_cast<V*>(out[3]) = __builtin_shuffle(c, d, second);
}

/// out (k, width) = the transpose of in (n, k), a vector's columns and four rows at a time. The columns after n are
/// whatever they are.
template <int bytes>
void pack_transposed(const float* in, int64_t stride, int64_t k, int64_t n, float* out, int64_t width) {
  constexpr int64_t kLanes = bytes / 4;
  const int64_t whole_k = k / 4 * 4;
  for (int64_t j = 0; j < n; j += kLanes) {
    const float* rows[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) rows[i] = in + std::min(j + i, n - 1) * stride;
    for (int64_t p = 0; p < whole_k; p += 4) {
      float* const to = out + p * width + j;
      float* const four[] = {to, to + width, to + 2 * width, to + 3 * width};
      transpose_parts<bytes>(rows, p, four);
    }
    for (int64_t p = whole_k; p < k; ++p)
      for (int64_t i = 0; i < kLanes; ++i) out[p * width + j + i] = rows[i][p];
  }
}

/// b (k, n) as rows of whole vectors; what stands after their end counts for nothing.
template <class T, int bytes>
void pack_small(const Gemm& g, compute_t<T>* out, int64_t width) {
  const auto* b = static_cast<const T*>(g.b.data);
  if constexpr (std::is_same_v<T, float>)
    if (g.b.row == 1) return pack_transposed<bytes>(b, g.b.col, g.k, g.n, out, width);
  for (int64_t p = 0; p < g.k; ++p, out += width) {
    const T* const row = b + p * g.b.row;
    if (g.b.col == 1) {
      load(row, out, g.n);
    } else {
      for (int64_t j = 0; j < g.n; ++j) out[j] = widen(row[j * g.b.col]);
    }
    for (int64_t j = g.n; j < width; ++j) out[j] = 0;
  }
}

/// Where sums of rows go, and what is done to them on the way.
template <class C>
struct SmallTarget {
  C* out;
  int64_t row;  // elements between rows
  C alpha;
  const C* bias;  // whole vectors, or null
};

/// R rows of `a` (stride a_row) times N columns of vectors of packed b. A function of its own: its sums stay in
/// registers.
template <int R, int N, class T, class V>
[[gnu::noinline]] void small_rows(const T* a, const Gemm& g, const compute_t<T>* b, int64_t width,
                                  const SmallTarget<compute_t<T>>& to) {
  const int64_t a_row = g.a.row, a_col = g.a.col, k = g.k;
  V acc[R][N] = {};
  for (int64_t p = 0; p < k; ++p, a += a_col, b += width) {
    const auto* const row = reinterpret_cast<const V*>(b);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const compute_t<T> factor = widen(a[r * a_row]);
#pragma GCC unroll 2
      for (int v = 0; v < N; ++v) acc[r][v] += factor * row[v];
    }
  }
  const auto each = [&](const auto& fn) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < N; ++v) fn(acc[r][v], r, v);
  };
  if (to.alpha != 1) each([alpha = to.alpha](V& sum, int, int) { sum *= alpha; });
  if (to.bias) each([bias = reinterpret_cast<const V*>(to.bias)](V& sum, int, int v) { sum += bias[v]; });
  each([&to](const V& sum, int r, int v) { reinterpret_cast<V*>(to.out + r * to.row)[v] = sum; });
}

/// out = sums + beta out, rounded.
template <class T>
void put_small(const Gemm& g, T* out, const compute_t<T>* sums, int64_t count) {
  using C = compute_t<T>;
  const C beta = static_cast<C>(g.beta);
  int64_t j = 0;
  if constexpr (kStoredAsComputed<T>) {
    constexpr int64_t kFew = 4;
    for (; beta == 0 && j + kFew <= count; j += kFew) std::memcpy(out + j, sums + j, kFew * sizeof(T));
  }
  for (; j < count; ++j) out[j] = narrow<T>(beta == 0 ? sums[j] : sums[j] + beta * widen(out[j]));
}

/// R rows and up to two vectors of columns of the result: at once where that is whole vectors, else by way of memory.
template <int R, class T, int bytes>
void small_tile(const Gemm& g, const T* a, const compute_t<T>* b, int64_t width, T* out, const compute_t<T>* bias,
                int64_t count) {
  using C = compute_t<T>;
  using V = typename SmallVector<C, bytes>::type;
  constexpr int64_t kLanes = bytes / sizeof(C);
  const auto rows = bytes == kSmallBytes && count > kLanes ? small_rows<R, 2, T, V> : small_rows<R, 1, T, V>;
  const C alpha = static_cast<C>(g.alpha);
  if constexpr (kStoredAsComputed<T>)
    if (g.beta == 0 && count % kLanes == 0) return rows(a, g, b, width, {out, g.c.row, alpha, bias});
  C sums[R * 2 * kLanes];
  rows(a, g, b, width, {sums, 2 * kLanes, alpha, bias});
  for (int r = 0; r < R; ++r) put_small(g, out + r * g.c.row, sums + r * 2 * kLanes, count);
}

/// With vectors of so many bytes.
template <class T, int bytes>
void small_product(const Gemm& g) {
  using C = compute_t<T>;
  constexpr int64_t kLanes = bytes / sizeof(C);
  constexpr int kRows = kIsaLevel >= 4 ? 8 : 4;
  const int64_t whole = (g.n + kLanes - 1) / kLanes * kLanes;
  alignas(64) C memory[kSmallProduct], bias[kSmallSide];
  const C* packed = memory;
  int64_t width = whole;
  if (kStoredAsComputed<T> && g.b.col == 1 && whole == g.n)
    packed = static_cast<const C*>(g.b.data), width = g.b.row;
  else
    pack_small<T, bytes>(g, memory, width);
  if (g.bias) {
    load(static_cast<const T*>(g.bias), bias, g.n);
    std::fill(bias + g.n, bias + whole, C(0));
  }
  const auto* a = static_cast<const T*>(g.a.data);
  auto* c = static_cast<T*>(g.c.data);
  for (int64_t j = 0; j < g.n; j += 2 * kLanes) {
    const int64_t count = std::min(2 * kLanes, g.n - j);
    int64_t i = 0;
    const auto rows = [&]<int R>(std::integral_constant<int, R>) {
      for (; i + R <= g.m; i += R)
        small_tile<R, T, bytes>(g, a + i * g.a.row, packed + j, width, c + i * g.c.row + j, g.bias ? bias + j : nullptr,
                                count);
    };
    rows(std::integral_constant<int, kRows>{});
    rows(std::integral_constant<int, kRows / 2>{});
    rows(std::integral_constant<int, 1>{});
  }
}

/// One matrix with k * n at most kSmallProduct, any strides.
template <class T>
void small_product(const Gemm& g) {
  const auto few = [&](int bytes) { return g.n * static_cast<int64_t>(sizeof(compute_t<T>)) <= bytes; };
  if (few(16)) return small_product<T, 16>(g);
  if (kSmallBytes > 32 && few(32)) return small_product<T, 32>(g);
  small_product<T, kSmallBytes>(g);
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
