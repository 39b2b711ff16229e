// Products of f64 matrices with blocking and packing: oneDNN offers none.
#include "cpu/isa/f64_gemm.h"

#include <algorithm>

#include "cpu/isa/lanes.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"

namespace hb::cpu::HB_ISA {
namespace {

using Vec = Vector<double>;
constexpr int kSide = kLanes<double>;
constexpr int kMr = kSide, kVecs = 3, kNr = kVecs * kSide;
constexpr int64_t kKc = 256, kMc = 12 * kMr, kNc = 20 * kNr;

// acc (kMr, kNr) = a panel (k, kMr) times b panel (k, kNr).
void micro_kernel(const double* a, const double* b, int64_t k, double* acc) {
  Vec c[kMr][kVecs] = {};
  for (int64_t p = 0; p < k; ++p, a += kMr, b += kNr) {
    Vec row[kVecs];
    for (int v = 0; v < kVecs; ++v) row[v] = load<double>(b + v * kSide);
#pragma GCC unroll 8
    for (int i = 0; i < kMr; ++i) {
#pragma GCC unroll 3
      for (int v = 0; v < kVecs; ++v) c[i][v] += a[i] * row[v];
    }
  }
  for (int i = 0; i < kMr; ++i)
    for (int v = 0; v < kVecs; ++v) store<double>(acc + i * kNr + v * kSide, c[i][v]);
}

/// A whole panel, by squares that are turned where its rows lie along memory.
template <int width>
void pack_whole(const double* in, int64_t along, int64_t across, int64_t k, double* out) {
  int64_t p = 0;
  if (along == 1)
    for (; p + kSide <= k; p += kSide)
      for (int i = 0; i < width; i += kSide) {
        Vec v[kSide];
        for (int j = 0; j < kSide; ++j) v[j] = load<double>(in + (i + j) * across + p);
        turn_square<double>(v);
        for (int j = 0; j < kSide; ++j) store<double>(out + (p + j) * width + i, v[j]);
      }
  for (; p < k; ++p)
    for (int i = 0; i < width; ++i) out[p * width + i] = in[p * along + i * across];
}

/// Panels of `width` rows (or columns), zero where the matrix ends.
template <int width>
void pack(const double* in, int64_t along, int64_t across, int64_t count, int64_t k, double* out) {
  for (int64_t start = 0; start < count; start += width) {
    const int64_t n = std::min<int64_t>(width, count - start);
    const double* panel = in + start * across;
    if (n == width) {
      across == 1 ? pack_whole<width>(panel, along, 1, k, out) : pack_whole<width>(panel, along, across, k, out);
      out += width * k;
      continue;
    }
    for (int64_t p = 0; p < k; ++p, out += width) {
      for (int64_t i = 0; i < n; ++i) out[i] = panel[p * along + i * across];
      for (int64_t i = n; i < width; ++i) out[i] = 0;
    }
  }
}

struct Tile {
  int64_t from_m, to_m, from_n, to_n;
};

void f64_tile(const Gemm& g, const Tile& t) {
  const auto *a = static_cast<const double*>(g.a.data), *b = static_cast<const double*>(g.b.data);
  auto* c = static_cast<double*>(g.c.data);
  auto* packed_a = static_cast<double*>(scratch_buffer(Scratch::convert_a, (kMc + kMr) * kKc * sizeof(double)));
  auto* packed_b = static_cast<double*>(scratch_buffer(Scratch::convert_b, (kNc + kNr) * kKc * sizeof(double)));
  double acc[kMr * kNr];
  for (int64_t jc = t.from_n; jc < t.to_n; jc += kNc) {
    const int64_t nc = std::min(kNc, t.to_n - jc);
    for (int64_t pc = 0; pc < g.k; pc += kKc) {
      const int64_t kc = std::min(kKc, g.k - pc);
      pack<kNr>(b + pc * g.b.row + jc * g.b.col, g.b.row, g.b.col, nc, kc, packed_b);
      for (int64_t ic = t.from_m; ic < t.to_m; ic += kMc) {
        const int64_t mc = std::min(kMc, t.to_m - ic);
        pack<kMr>(a + ic * g.a.row + pc * g.a.col, g.a.col, g.a.row, mc, kc, packed_a);
        for (int64_t j = 0; j < nc; j += kNr)
          for (int64_t i = 0; i < mc; i += kMr) {
            micro_kernel(packed_a + i * kc, packed_b + j * kc, kc, acc);
            const int64_t rows = std::min<int64_t>(kMr, mc - i), cols = std::min<int64_t>(kNr, nc - j);
            for (int64_t r = 0; r < rows; ++r) {
              double* out = c + (ic + i + r) * g.c.row + jc + j;
              for (int64_t q = 0; q < cols; ++q) out[q] += g.alpha * acc[r * kNr + q];
            }
          }
      }
    }
  }
}

}  // namespace

void f64_gemm(const Gemm& g) {
  auto* c = static_cast<double*>(g.c.data);
  const auto* bias = static_cast<const double*>(g.bias);
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      double& x = c[i * g.c.row + j];
      x = (g.beta == 0 ? 0.0 : g.beta * x) + (bias ? bias[j] : 0.0);
    }
  const bool by_rows = g.m >= g.n;
  const int64_t extent = by_rows ? g.m : g.n;
  const int64_t work = std::max<int64_t>(1, g.m * g.n * g.k / std::max<int64_t>(extent, 1));
  parallel_for(0, extent, std::max<int64_t>(kNr, 200000 / work), [&](int64_t from, int64_t to) {
    f64_tile(g, by_rows ? Tile{from, to, 0, g.n} : Tile{0, g.m, from, to});
  });
}

}  // namespace hb::cpu::HB_ISA
