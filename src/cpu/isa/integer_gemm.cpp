#include "cpu/isa/integer_gemm.h"

#include <immintrin.h>

#include <vector>

#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int kBytes = kIsaLevel >= 4 ? 64 : 32, kLanes = kBytes / 8;

// Integers as uint64, in which they wrap.
typedef uint64_t Words __attribute__((vector_size(kBytes), aligned(8)));
constexpr int kWordRows = 4, kWordVecs = kIsaLevel >= 4 ? 4 : 2, kWordColumns = kWordVecs * kLanes;

// Products of words. AVX2 multiplies words in many steps, but numbers of 32 bits in one.
inline Words product(uint64_t factor, Words b, bool narrow) {
#ifndef __AVX512F__
  if (narrow) return (Words)_mm256_mul_epi32(_mm256_set1_epi64x(static_cast<int64_t>(factor)), (__m256i)b);
#endif
  return factor * b;
}
constexpr bool kNarrowIsFaster = kIsaLevel < 4;

template <class T>
inline uint64_t bits_of(T v) {
  return static_cast<uint64_t>(static_cast<int64_t>(v));
}

// sums (kWordRows, kWordColumns) = rows of a, `row` apart, times a panel (k, kWordColumns) of b.
template <class T, bool narrow>
void word_tile(const T* a, int64_t row, int64_t col, int rows, const uint64_t* panel, int64_t k, uint64_t* sums) {
  const T* x[kWordRows];
  for (int i = 0; i < kWordRows; ++i) x[i] = a + (i < rows ? i : 0) * row;
  Words c[kWordRows][kWordVecs] = {};
  for (int64_t p = 0; p < k; ++p, panel += kWordColumns) {
    Words b[kWordVecs];
    for (int v = 0; v < kWordVecs; ++v) b[v] = *reinterpret_cast<const Words*>(panel + v * kLanes);
#pragma GCC unroll 4
    for (int i = 0; i < kWordRows; ++i) {
      const uint64_t factor = bits_of(x[i][p * col]);
#pragma GCC unroll 4
      for (int v = 0; v < kWordVecs; ++v) c[i][v] += product(factor, b[v], narrow);
    }
  }
  for (int i = 0; i < kWordRows; ++i)
    for (int v = 0; v < kWordVecs; ++v) *reinterpret_cast<Words*>(sums + i * kWordColumns + v * kLanes) = c[i][v];
}

template <class T>
struct IntegerProduct {
  const Gemm& g;
  const T *a = static_cast<const T*>(g.a.data), *b = static_cast<const T*>(g.b.data),
          *bias = static_cast<const T*>(g.bias);
  T* c = static_cast<T*>(g.c.data);
  uint64_t alpha = static_cast<uint64_t>(static_cast<int64_t>(g.alpha)),
           beta = static_cast<uint64_t>(static_cast<int64_t>(g.beta));

  void put(int64_t i, int64_t j, uint64_t sum) const {
    T& out = c[i * g.c.row + j];
    out = static_cast<T>(sum * alpha + (beta == 0 ? 0 : beta * bits_of(out)) + (bias ? bits_of(bias[j]) : 0));
  }
  // Columns [first, first + kWordColumns) of b, zero where it ends.
  void pack(int64_t first, std::vector<uint64_t>& panel) const {
    const int64_t width = std::min<int64_t>(kWordColumns, g.n - first);
    for (int64_t p = 0; p < g.k; ++p) {
      uint64_t* to = panel.data() + p * kWordColumns;
      const T* from = b + p * g.b.row + first * g.b.col;
      if (g.b.col == 1)
        for (int64_t j = 0; j < width; ++j) to[j] = bits_of(from[j]);
      else
        for (int64_t j = 0; j < width; ++j) to[j] = bits_of(from[j * g.b.col]);
    }
  }
  /// Whether the rows of a matrix hold numbers of 32 bits alone.
  static bool fits(const T* x, int64_t rows, int64_t row, int64_t n, int64_t col) {
    if constexpr (!kNarrowIsFaster || sizeof(T) < 8) return kNarrowIsFaster;
    uint64_t beyond = 0;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < n; ++j) beyond |= (bits_of(x[i * row + j * col]) + 0x80000000u) >> 32;
    return beyond == 0;
  }
  void columns(int64_t first, std::vector<uint64_t>& panel, bool narrow) const {
    const int64_t width = std::min<int64_t>(kWordColumns, g.n - first);
    uint64_t sums[kWordRows * kWordColumns];
    pack(first, panel);
    for (int64_t i = 0; i < g.m; i += kWordRows) {
      const int rows = static_cast<int>(std::min<int64_t>(kWordRows, g.m - i));
      const auto tile = narrow ? word_tile<T, kNarrowIsFaster> : word_tile<T, false>;
      tile(a + i * g.a.row, g.a.row, g.a.col, rows, panel.data(), g.k, sums);
      for (int r = 0; r < rows; ++r)
        for (int64_t j = 0; j < width; ++j) put(i + r, first + j, sums[r * kWordColumns + j]);
    }
  }
  // Few columns: each a sum along k.
  void dots(int64_t from, int64_t to) const {
    if (g.a.col == 1 && g.b.row == 1) {
      for (int64_t i = from; i < to; ++i)
        for (int64_t j = 0; j < g.n; ++j) {
          const T *row = a + i * g.a.row, *column = b + j * g.b.col;
          uint64_t sum = 0;
          for (int64_t p = 0; p < g.k; ++p) sum += bits_of(row[p]) * bits_of(column[p]);
          put(i, j, sum);
        }
      return;
    }
    std::vector<uint64_t> column(g.k);
    for (int64_t j = 0; j < g.n; ++j) {
      for (int64_t p = 0; p < g.k; ++p) column[p] = bits_of(b[p * g.b.row + j * g.b.col]);
      for (int64_t i = from; i < to; ++i) {
        const T* row = a + i * g.a.row;
        uint64_t sum = 0;
        if (g.a.col == 1)
          for (int64_t p = 0; p < g.k; ++p) sum += bits_of(row[p]) * column[p];
        else
          for (int64_t p = 0; p < g.k; ++p) sum += bits_of(row[p * g.a.col]) * column[p];
        put(i, j, sum);
      }
    }
  }
  void run() const {
    const int64_t panels = (g.n + kWordColumns - 1) / kWordColumns;
    if (g.n < kLanes) {
      const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, g.n * g.k));
      return parallel_for(0, g.m, grain, [&](int64_t from, int64_t to) { dots(from, to); });
    }
    const bool narrow = fits(a, g.m, g.a.row, g.k, g.a.col) && fits(b, g.k, g.b.row, g.n, g.b.col);
    const int64_t grain = std::max<int64_t>(1, 30000 / std::max<int64_t>(1, g.m * g.k * kWordColumns));
    parallel_for(0, panels, grain, [&](int64_t from, int64_t to) {
      std::vector<uint64_t> panel(g.k * kWordColumns, 0);
      for (int64_t j = from; j < to; ++j) columns(j * kWordColumns, panel, narrow);
    });
  }
};

}  // namespace

void integers(const Gemm& g) {
  switch (g.dtype) {
    case kByte:
      return IntegerProduct<uint8_t>{g}.run();
    case kChar:
      return IntegerProduct<int8_t>{g}.run();
    case kShort:
      return IntegerProduct<int16_t>{g}.run();
    case kInt:
      return IntegerProduct<int32_t>{g}.run();
    case kLong:
      return IntegerProduct<int64_t>{g}.run();
    default:
      HB_NOT_SUPPORTED("[matmul] expected a numeric dtype, got ", g.dtype);
  }
}

}  // namespace hb::cpu::HB_ISA
