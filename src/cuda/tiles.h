#pragma once
// Tiles of Half, BFloat16 or float in shared memory, and their products by warps (32 x kWarps threads), whose rows are
// 16 or a multiple of it for each warp.

#include "cuda/tensor_core.h"

namespace hb::cuda {

constexpr int kTileWarps = 4;
constexpr int kTileThreads = kTileWarps * kWarp;

/// Elements of 16 bytes, which lie and are copied together.
template <class T>
constexpr int kGroup = 16 / sizeof(T);

/// Rows of kWidth (64 or 128) elements. Groups are stored in another order in each of 8 rows, so that a column of
/// groups lies in all banks: column c of row r is where c ^ kGroup (r % 8) would be.
template <class T, int kWidth>
struct Tile {
  static_assert(kWidth == 64 || kWidth == 128);
  static constexpr bool kFloats = std::is_same_v<T, float>;
  T* memory;

  /// `column` is a multiple of a group.
  __device__ T* at(int row, int column) const { return memory + row * kWidth + (column ^ row % 8 * kGroup<T>); }

  /// The 16 x 16 elements from there; rows and columns are multiples of 16 here and below.
  __device__ MatrixA<T> block(int row, int column) const {
    MatrixA<T> a;
    if constexpr (kFloats)
      for (int half = 0; half < 2; ++half)
        load_floats(a.x + 4 * half, of_lane(lane() % 16, lane() / 16, row, column + 8 * half));
    else
      load_matrices<false>(a.pairs, of_lane(lane() % 16, lane() / 16, row, column));
    return a;
  }
  /// The same as two factors of 8 columns each; of floats, whose rows are in the order of round_matrices.
  __device__ void columns(MatrixB<T> (&b)[2], int row, int column) const {
    if constexpr (kFloats) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int mine = lane() % 4 * 2 + i, place = mine * kWidth + ((lane() / 4) ^ (mine * kGroup<T>));
#pragma unroll
        for (int j = 0; j < 4; ++j)
          b[j / 2].x[j % 2 * 2 + i] = memory[(place ^ (column + j / 2 * 8)) + (row + j % 2 * 8) * kWidth];
      }
    } else {
      load_factors<true>(b, of_lane(lane() % 16, lane() / 16, row, column));
    }
  }
  /// Its transpose as two factors of 8 columns each, which are rows here.
  __device__ void rows(MatrixB<T> (&b)[2], int row, int column) const {
    if constexpr (kFloats)
      for (int i = 0; i < 2; ++i) load_floats(b[i].x, of_lane(lane() % 8, lane() / 8, row + 8 * i, column));
    else
      load_factors<false>(b, of_lane(lane() / 16 * 8 + lane() % 8, lane() / 8 % 2, row, column));
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x); }
  // at(row + lane_row, column + kGroup lane_group), but for the row the same in each row: few addresses are kept.
  __device__ const T* of_lane(int lane_row, int lane_group, int row, int column) const {
    const int place = lane_row * kWidth + (lane_group ^ lane_row % 8) * kGroup<T>;
    return memory + (place ^ column) + row * kWidth;
  }
  __device__ static void load_floats(float* to, const T* row) {
    uint32_t bits[4];
    load_matrices<false>(bits, row);
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = __builtin_bit_cast(float, bits[i]);
  }
  template <bool kTransposed>
  __device__ static void load_factors(MatrixB<T> (&b)[2], const T* row) {
    uint32_t pairs[4];
    load_matrices<kTransposed>(pairs, row);
    b[0] = {{pairs[0], pairs[1]}}, b[1] = {{pairs[2], pairs[3]}};
  }
};

/// Rows of `width` elements (a multiple of a group) of which tiles of kRows are copied, one after another; zeros after
/// the last of them and beside them.
template <class T, int kWidth, int kRows>
struct TileSource {
  static constexpr int kGroups = kWidth / kGroup<T>, kAtOnce = kTileThreads / kGroups;  // of a row; rows
  const T* row;                                                                         // what this thread copies next
  int64_t stride;
  int left, first, column;  // rows from this thread's on; where in a tile it is
  __device__ TileSource(const T* from, int64_t row_stride, int64_t rows, int64_t width) : stride(row_stride) {
    const int thread = static_cast<int>(threadIdx.y * kWarp + threadIdx.x);
    first = thread / kGroups, column = thread % kGroups * kGroup<T>;
    row = from + first * stride + column;
    left = column < width ? static_cast<int>(rows) - first : -(1 << 30);
  }
  /// Back by as many rows, and on by as many elements.
  __device__ void go_back(int rows, int64_t elements) { row += elements - rows * stride, left += rows; }
  __device__ void begin(const Tile<T, kWidth>& to) {
    if constexpr (kAtOnce % 8 == 0) {  // a thread's places are alike
      T* const place = to.at(first, column);
#pragma unroll
      for (int i = 0; i < kRows; i += kAtOnce, row += kAtOnce * stride) begin_copy(place + i * kWidth, row, i < left);
    } else {
#pragma unroll
      for (int i = 0; i < kRows; i += kAtOnce, row += kAtOnce * stride)
        begin_copy(to.at(first + i, column), row, i < left);
    }
    left -= kRows;
  }
};

/// The 16 kTall rows of a warp as first factors of products. kKept: they stay in registers, which saves half of what is
/// read from shared memory but takes kTall * kWidth / 4 registers.
template <class T, int kTall, int kWidth, bool kKept>
struct WarpRows {
  Tile<T, kWidth> tile;
  int row;
  MatrixA<T> kept[kTall][kKept ? kWidth / 16 : 1];
  /// When the tile is there.
  __device__ WarpRows(const Tile<T, kWidth>& from, int first) : tile(from), row(first) {
    if constexpr (kKept)
#pragma unroll
      for (int i = 0; i < kTall * kWidth / 16; ++i) kept[i % kTall][i / kTall] = read(i % kTall, i / kTall);
  }
  /// Rows 16 i to 16 i + 15 and columns 16 k to 16 k + 15.
  __device__ MatrixA<T> block(int i, int k) const {
    if constexpr (kKept)
      return kept[i][k];
    else
      return read(i, k);
  }

 private:
  __device__ MatrixA<T> read(int i, int k) const { return tile.block(row + 16 * i, 16 * k); }
};

/// Until what all threads of the block began to copy is there.
__device__ inline void wait_for_block() {
  wait_for_copies();
  __syncthreads();
}
/// Calls body(step, buffer) for all steps while what begin(buffer) copies for the next one arrives. The caller began
/// the first, and waited for it.
template <class Begin, class Body>
__device__ inline void walk(int steps, const Begin& begin, const Body& body) {
  for (int i = 0; i < steps; ++i) {
    if (i + 1 < steps) begin((i + 1) % 2);
    body(i, i % 2);
    wait_for_block();  // the next tiles are there, and all warps have read these
  }
}

/// sums (16 kTall, 8 kWide) += a times the first rows of b, transposed.
template <int kTall, int kWide, bool kKept, class T, int kWidth>
__device__ inline void multiply_by_rows(MatrixC (&sums)[kTall][kWide], const WarpRows<T, kTall, kWidth, kKept>& a,
                                        const Tile<T, kWidth>& b) {
  [[maybe_unused]] constexpr int kUnrolled =
      std::is_same_v<T, float> ? 2 : kWidth / 16;  // floats have no registers for more
#pragma unroll kUnrolled
  for (int k = 0; k < kWidth / 16; ++k) {
    MatrixA<T> rows[kTall];
#pragma unroll
    for (int i = 0; i < kTall; ++i) rows[i] = a.block(i, k);
#pragma unroll
    for (int j = 0; j < kWide; j += 2) {
      MatrixB<T> factors[2];
      b.rows(factors, 8 * j, 16 * k);
#pragma unroll
      for (int i = 0; i < kTall; ++i) mma(sums[i][j], rows[i], factors[0]), mma(sums[i][j + 1], rows[i], factors[1]);
    }
  }
}

/// sums (16 kTall, kWidth) += a (16 kTall, 16) times 16 rows of b from `row` on.
template <int kTall, class T, int kWidth>
__device__ inline void multiply_by_columns(MatrixC (&sums)[kTall][kWidth / 8], const MatrixA<T> (&a)[kTall],
                                           const Tile<T, kWidth>& b, int row) {
#pragma unroll
  for (int j = 0; j < kWidth / 8; j += 2) {
    MatrixB<T> factors[2];
    b.columns(factors, row, 8 * j);
#pragma unroll
    for (int i = 0; i < kTall; ++i) mma(sums[i][j], a[i], factors[0]), mma(sums[i][j + 1], a[i], factors[1]);
  }
}
/// The same with all columns of a (16 kTall, 8 kDeep), rounded.
template <int kTall, int kDeep, class T, int kWidth>
__device__ inline void multiply_by_columns(MatrixC (&sums)[kTall][kWidth / 8], const MatrixC (&a)[kTall][kDeep],
                                           const Tile<T, kWidth>& b) {
#pragma unroll
  for (int k = 0; k < kDeep; k += 2) {
    MatrixA<T> rows[kTall];
#pragma unroll
    for (int i = 0; i < kTall; ++i) rows[i] = round_matrices<T>(a[i][k], a[i][k + 1]);
    multiply_by_columns(sums, rows, b, 8 * k);
  }
}

/// Where an element of a MatrixC is, which this lane has.
__device__ inline int row_of_element(int i) { return static_cast<int>(threadIdx.x) / 4 + i / 2 * 8; }
__device__ inline int column_of_element(int i) { return static_cast<int>(threadIdx.x) % 4 * 2 + i % 2; }

/// A sum, or the largest, over the four lanes that have a row of a MatrixC.
__device__ inline float sum_of_row(float x) {
  x += __shfl_xor_sync(kFullWarp, x, 1);
  return x + __shfl_xor_sync(kFullWarp, x, 2);
}
__device__ inline float largest_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(kFullWarp, x, 1));
  return fmaxf(x, __shfl_xor_sync(kFullWarp, x, 2));
}

/// Rounds scale * sums (16, 8 kWide) to rows of `width` elements, a multiple of 8, of which `rows` are there.
template <class T, int kWide>
__device__ inline void store_rows(T* to, int64_t stride, int64_t rows, int64_t width, const MatrixC (&sums)[kWide],
                                  float first_scale, float second_scale) {
  const int column = column_of_element(0);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = row_of_element(2 * half);
    if (row >= rows) continue;
    const float scale = half ? second_scale : first_scale;
#pragma unroll
    for (int j = 0; j < kWide; ++j) {
      const float* const x = sums[j].x + 2 * half;
      if (8 * j < width) store_vector(to + row * stride + 8 * j + column, round_pair<T>(x[0] * scale, x[1] * scale));
    }
  }
}

}  // namespace hb::cuda
