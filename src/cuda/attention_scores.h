#pragma once
// What the kernels of attention by tiles share: where a block is, and scores.

#include "backend/attention.h"
#include "cuda/allow_shared.h"
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
/// does not see a key. kOfKeys: rows of the matrices are keys, columns queries. kMasked: there is a mask; where there
/// is none, loops have registers for other things.
template <class T, bool kOfKeys, bool kMasked>
struct Scores {
  const Attention& a;
  const T* mask;  // of this head
  int rows, columns;
  float scale;
  __device__ Scores(const Attention& of, int64_t batch, int64_t head)
      : a(of),
        mask(kMasked ? static_cast<const T*>(a.mask) + batch * a.mask_stride[0] + head * a.mask_stride[1] : nullptr),
        rows(static_cast<int>(kOfKeys ? a.keys : a.queries)),
        columns(static_cast<int>(kOfKeys ? a.queries : a.keys)),
        scale(static_cast<float>(a.scale) * kLogE) {}

  /// Whether `tall` rows and `wide` columns from there on are all there and seen, and scores are scale * products.
  __device__ bool are_plain(int row, int tall, int column, int wide) const {
    const int first = kOfKeys ? column : row, last = kOfKeys ? row + tall - 1 : column + wide - 1;  // query, key
    return !kMasked && row + tall <= rows && column + wide <= columns && (!a.causal || last <= first);
  }
  /// Makes scores of 16 kTall rows from `row` on and 8 kWide columns from `column` on; where they are plain, only
  /// returns what they are to be multiplied by, as whoever subtracts from them does both in one instruction.
  template <int kTall, int kWide>
  __device__ float make(MatrixC (&products)[kTall][kWide], int row, int column) const {
    if (scale > 0 && are_plain(row, 16 * kTall, column, 8 * kWide)) return scale;
#pragma unroll
    for (int i = 0; i < kTall; ++i) {
#pragma unroll
      for (int e = 0; e < 4 * kWide; ++e) products[i][e / 4].x[e % 4] *= scale;
#pragma unroll
      for (int half = 0; half < 2; ++half) hide(products[i], half, row + 16 * i + row_of_element(2 * half), column);
    }
    return 1;
  }

 private:
  template <int kWide>
  __device__ void hide(MatrixC (&scores)[kWide], int half, int row, int column) const {
    int from = column, end = row < rows ? columns : 0;  // what this row sees
    if (a.causal && kOfKeys && from < row) from = row;
    if (a.causal && !kOfKeys && end > row + 1) end = row + 1;
    const int mine = column + column_of_element(0);
    const int low = from - mine, high = end - mine;
    const int64_t row_step = a.mask_stride[kOfKeys ? 3 : 2], column_step = a.mask_stride[kOfKeys ? 2 : 3];
    const T* const of_row = kMasked ? mask + row * row_step + mine * column_step : nullptr;
#pragma unroll
    for (int i = 0; i < 2 * kWide; ++i) {
      const int c = i / 2 * 8 + i % 2;
      float& x = scores[i / 2].x[2 * half + i % 2];
      if (c < low || c >= high)
        x = -INFINITY;
      else if constexpr (kMasked)
        x += static_cast<float>(of_row[c * column_step]) * kLogE;
    }
  }
};

/// Calls fn(T(), width of the tiles, whether there is a mask), the last two as constants, where there is such a tile.
template <class F>
bool with_tile(const Attention& a, const F& fn) {
  const int64_t width = a.width > a.value_width ? a.width : a.value_width;
  constexpr int64_t kMost = int64_t{1} << 29;  // rows are counted in int
  if (a.queries > kMost || a.keys > kMost || width > 128) return false;
  const auto of_width = [&](auto type, auto tile_width) {
    if (a.mask)
      fn(type, tile_width, std::true_type());
    else
      fn(type, tile_width, std::false_type());
  };
  const auto of_type = [&](auto type) {
    if (width <= 64)
      of_width(type, std::integral_constant<int, 64>());
    else
      of_width(type, std::integral_constant<int, 128>());
  };
  if (a.dtype == kHalf)
    of_type(Half());
  else if (a.dtype == kBFloat16)
    of_type(BFloat16());
  else if (a.dtype == kFloat)
    of_type(float());
  else
    return false;
  return true;
}

/// Whether rows of `width` elements, a multiple of 8, begin at multiples of 16 bytes.
inline bool is_aligned(ScalarType dtype, const HeadsRef& r, int64_t batches, int64_t heads, int64_t rows,
                       int64_t width) {
  const int64_t group = 16 / static_cast<int64_t>(element_size(dtype));
  const auto steps = [=](int64_t count, int64_t stride) { return count <= 1 || stride % group == 0; };
  return reinterpret_cast<uintptr_t>(r.data) % 16 == 0 && width % 8 == 0 && steps(batches, r.batch) &&
         steps(heads, r.head) && steps(rows, r.row);
}
inline bool operands_are_aligned(const Attention& a) {
  return is_aligned(a.dtype, a.q, a.batch, a.heads, a.queries, a.width) &&
         is_aligned(a.dtype, a.k, a.batch, a.kv_heads, a.keys, a.width) &&
         is_aligned(a.dtype, a.v, a.batch, a.kv_heads, a.keys, a.value_width) &&
         is_aligned(a.dtype, a.out, a.batch, a.heads, a.queries, a.value_width);
}

}  // namespace hb::cuda
