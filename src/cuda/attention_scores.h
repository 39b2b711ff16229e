#pragma once
// What the kernels of attention by tiles share: where a block is, and scores.

#include "backend/attention.h"
#include "cuda/tiles.h"

namespace hb::cuda {

constexpr float kLogTwo = 0.693147180559945309f, kLogE = 1.44269504088896341f;

/// The place of head h of batch b.
template <class T>
__device__ inline T* rows_of(const HeadsRef& r, int64_t b, int64_t h) {
  return static_cast<T*>(r.data) + b * r.batch + h * r.head;
}

/// The tile, head and batch of a block: those of all heads with the same tile stand together, the longest tiles first.
struct TilePlace {
  int first;
  int64_t head, batch;
  __device__ TilePlace(int64_t rows, int per_tile, int64_t heads, int64_t batches, bool last_first) {
    const unsigned units = static_cast<unsigned>(heads * batches), unit = blockIdx.x % units;
    const int tile = static_cast<int>(blockIdx.x / units), tiles = static_cast<int>((rows + per_tile - 1) / per_tile);
    first = (last_first ? tiles - 1 - tile : tile) * per_tile;
    head = unit % static_cast<unsigned>(heads), batch = unit / static_cast<unsigned>(heads);
  }
};
inline dim3 blocks_of_tiles(int64_t rows, int per_tile, int64_t heads) {
  return dim3(static_cast<unsigned>((rows + per_tile - 1) / per_tile * heads));
}

/// From products of queries and keys to scores in powers of two: log2(e) (scale q k + mask), -infinity where a query
/// does not see a key. kOfKeys: rows of the matrices are keys, columns queries.
template <class T, bool kOfKeys>
struct Scores {
  const T* mask;  // of this head
  int rows, columns;
  int64_t mask_row, mask_column;
  float scale;
  bool causal;
  __device__ Scores(const Attention& a, int64_t batch, int64_t head)
      : mask(a.mask ? static_cast<const T*>(a.mask) + batch * a.mask_stride[0] + head * a.mask_stride[1] : nullptr),
        rows(static_cast<int>(kOfKeys ? a.keys : a.queries)),
        columns(static_cast<int>(kOfKeys ? a.queries : a.keys)),
        mask_row(a.mask_stride[kOfKeys ? 3 : 2]),
        mask_column(a.mask_stride[kOfKeys ? 2 : 3]),
        scale(static_cast<float>(a.scale) * kLogE),
        causal(a.causal) {}

  /// Of 16 rows from `row` on and 8 kWide columns from `column` on.
  template <int kWide>
  __device__ void make(MatrixC (&products)[kWide], int row, int column) const {
#pragma unroll
    for (int i = 0; i < 4 * kWide; ++i) products[i / 4].x[i % 4] *= scale;
    const int first = kOfKeys ? column : row, last = kOfKeys ? row + 15 : column + 8 * kWide - 1;  // query, key
    if (!mask && row + 16 <= rows && column + 8 * kWide <= columns && (!causal || last <= first)) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) hide(products, half, row + row_of_element(2 * half), column);
  }

 private:
  template <int kWide>
  __device__ void hide(MatrixC (&scores)[kWide], int half, int row, int column) const {
    int from = column, end = row < rows ? columns : 0;  // what this row sees
    if (causal && kOfKeys && from < row) from = row;
    if (causal && !kOfKeys && end > row + 1) end = row + 1;
    const int mine = column + column_of_element(0);
    const int low = from - mine, high = end - mine;
    const T* const of_row = mask ? mask + int64_t{row} * mask_row + int64_t{mine} * mask_column : nullptr;
#pragma unroll
    for (int i = 0; i < 2 * kWide; ++i) {
      const int c = i / 2 * 8 + i % 2;
      float& x = scores[i / 2].x[2 * half + i % 2];
      if (c < low || c >= high)
        x = -INFINITY;
      else if (mask)
        x += static_cast<float>(of_row[c * mask_column]) * kLogE;
    }
  }
};

/// Calls fn(T(), integral_constant) with the dtype and the width of the tiles, where there is one.
template <class F>
bool with_tile(const Attention& a, const F& fn) {
  const int64_t width = a.width > a.value_width ? a.width : a.value_width;
  constexpr int64_t kMost = int64_t{1} << 30;  // rows are counted in int
  if (a.queries > kMost || a.keys > kMost || width > 128 || (a.dtype != kHalf && a.dtype != kBFloat16)) return false;
  const auto of_type = [&](auto type) {
    if (width <= 64)
      fn(type, std::integral_constant<int, 64>());
    else
      fn(type, std::integral_constant<int, 128>());
  };
  if (a.dtype == kHalf)
    of_type(Half());
  else
    of_type(BFloat16());
  return true;
}

/// Whether rows of `width` elements of two bytes begin at multiples of 16 bytes.
inline bool is_aligned(const HeadsRef& r, int64_t batches, int64_t heads, int64_t rows, int64_t width) {
  const auto steps = [](int64_t count, int64_t stride) { return count <= 1 || stride % 8 == 0; };
  return reinterpret_cast<uintptr_t>(r.data) % 16 == 0 && width % 8 == 0 && steps(batches, r.batch) &&
         steps(heads, r.head) && steps(rows, r.row);
}
inline bool operands_are_aligned(const Attention& a) {
  return is_aligned(a.q, a.batch, a.heads, a.queries, a.width) &&
         is_aligned(a.k, a.batch, a.kv_heads, a.keys, a.width) &&
         is_aligned(a.v, a.batch, a.kv_heads, a.keys, a.value_width) &&
         is_aligned(a.out, a.batch, a.heads, a.queries, a.value_width);
}

}  // namespace hb::cuda
