// Gradients of attention of half types. A block has queries and goes over tiles of keys, or has keys and goes over
// tiles of queries; both compute the shares anew from what the forward pass kept of each query. Nothing is added by
// atomics, so that gradients are the same each time.
#include "cuda/attention_scores.h"
#include "cuda/attention_tiles.h"
#include "cuda/convert.h"
#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

// Tiles that fit in 48 KiB, those that a block goes over twice: one is copied while the other is multiplied by.
template <int kWidth>
constexpr int kTall = kWidth == 64 ? 2 : 1;  // 16 rows each, of a warp
template <int kWidth>
constexpr int kOwn = 16 * kTileWarps* kTall<kWidth>;
constexpr int kQueryStep = 16;  // what a block of keys goes over: its sums take twice the registers
template <int kWidth>
constexpr int kKeyStep = kWidth == 64 ? 32 : 16;

/// Rows that belong together: queries and gradients of their results, or keys and values.
template <class T>
struct Rows {
  const T *x, *y;
  int64_t x_row, y_row, count;
};
template <class T>
__device__ Rows<T> queries_of(const Attention& a, const AttentionGrad& g, int64_t batch, int64_t head) {
  return {rows_of<const T>(a.q, batch, head), rows_of<const T>(g.grad_out, batch, head), a.q.row, g.grad_out.row,
          a.queries};
}
template <class T>
__device__ Rows<T> keys_of(const Attention& a, int64_t batch, int64_t head) {
  return {rows_of<const T>(a.k, batch, head), rows_of<const T>(a.v, batch, head), a.k.row, a.v.row, a.keys};
}

/// A block's shared memory, kStep being the rows of what it goes over.
template <class T, int kWidth, int kStep>
struct Rooms {
  using Tiles = Tile<T, kWidth>;
  T* memory;
  static constexpr int kBytes = sizeof(T) * kWidth * 2 * (kOwn<kWidth> + 2 * kStep);
  __device__ Tiles own(int i) const { return {memory + i * kOwn<kWidth> * kWidth}; }
  __device__ Tiles other(int buffer, int i) const {
    return {memory + (2 * kOwn<kWidth> + (2 * buffer + i) * kStep) * kWidth};
  }
  __device__ void begin_own(const Attention& a, const Rows<T>& rows, int first) const {
    begin<kOwn<kWidth>>(own(0), own(1), a, rows, first);
  }
  __device__ void begin_other(int buffer, const Attention& a, const Rows<T>& rows, int first) const {
    begin<kStep>(other(buffer, 0), other(buffer, 1), a, rows, first);
  }

 private:
  template <int kRows>
  __device__ static void begin(const Tiles& x, const Tiles& y, const Attention& a, const Rows<T>& rows, int first) {
    begin_tile<kRows>(x, rows.x + first * rows.x_row, rows.x_row, rows.count - first, a.width);
    begin_tile<kRows>(y, rows.y + first * rows.y_row, rows.y_row, rows.count - first, a.value_width);
  }
};

/// Calls body(step, buffer) when what begin(step, buffer) began to copy is there; the next is copied meanwhile.
template <class Begin, class Body>
__device__ void walk(int steps, const Begin& begin, const Body& body) {
  if (steps > 0) begin(0, 0);
  for (int i = 0; i < steps; ++i) {
    wait_for_copies();
    __syncthreads();  // the tiles are there, and all warps have read those before
    if (i + 1 < steps) begin(i + 1, (i + 1) % 2);
    body(i, i % 2);
  }
}

// grad_out * out of a query, summed by the four lanes that have its row.
template <class T>
__device__ float product_of(const Attention& a, const AttentionGrad& g, const TilePlace& at, int query) {
  constexpr ScalarType kType = std::is_same_v<T, Half> ? kHalf : kBFloat16;
  float sum = 0;
  if (query < a.queries) {
    const T* const grad = rows_of<const T>(g.grad_out, at.batch, at.head) + query * g.grad_out.row;
    const T* const out = rows_of<const T>(a.out, at.batch, at.head) + query * a.out.row;
    for (int64_t c = threadIdx.x % 4 * 8; c < a.value_width; c += 32) {
      float x[8], y[8];
      load_floats(x, grad + c, kType), load_floats(y, out + c, kType);
#pragma unroll
      for (int i = 0; i < 8; ++i) sum += x[i] * y[i];
    }
  }
  return sum_of_row(sum);
}

template <class T, int kWidth>
__global__ void __launch_bounds__(kTileThreads)
    query_gradient_tiles(HB_ARGUMENT(Attention) a, HB_ARGUMENT(AttentionGrad) g, float* products) {
  constexpr int kRows = kTall<kWidth>, kStep = kKeyStep<kWidth>, kColumns = kStep / 8;
  HB_DYNAMIC_SHARED(T, memory);
  const Rooms<T, kWidth, kStep> rooms{memory};
  const TilePlace at(a.queries, kOwn<kWidth>, a.heads, a.batch, a.causal);
  rooms.begin_own(a, queries_of<T>(a, g, at.batch, at.head), at.first);
  const int row = static_cast<int>(threadIdx.y) * 16 * kRows, after = at.first + kOwn<kWidth>;
  float kept[kRows][2], product[kRows][2];
#pragma unroll
  for (int i = 0; i < 2 * kRows; ++i) {
    const int query = at.first + row + i / 2 * 16 + row_of_element(i % 2 * 2);
    const int64_t place = (at.batch * a.heads + at.head) * a.queries + query;
    const bool there = query < a.queries;
    product[i / 2][i % 2] = product_of<T>(a, g, at, query);
    kept[i / 2][i % 2] = there ? static_cast<const float*>(a.normalizer)[place] * kLogE : INFINITY;
    if (there && threadIdx.x % 4 == 0) products[place] = product[i / 2][i % 2];
  }

  const int seen = a.causal && after < a.keys ? after : static_cast<int>(a.keys);
  const Rows<T> keys = keys_of<T>(a, at.batch, at.head / (a.heads / a.kv_heads));
  const Scores<T, false> score(a, at.batch, at.head);
  MatrixC sums[kRows][kWidth / 8];
  const auto begin = [&](int i, int buffer) { rooms.begin_other(buffer, a, keys, i * kStep); };
  walk((seen + kStep - 1) / kStep, begin, [&](int step, int buffer) {
    MatrixC shares[kRows][kColumns], slopes[kRows][kColumns];
    multiply_by_rows(shares, rooms.own(0), row, rooms.other(buffer, 0));
    multiply_by_rows(slopes, rooms.own(1), row, rooms.other(buffer, 1));
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      score.make(shares[i], at.first + row + 16 * i, step * kStep);
#pragma unroll
      for (int e = 0; e < 4 * kColumns; ++e) {
        const float share = power_of_two(shares[i][e / 4].x[e % 4] - kept[i][e % 4 / 2]);
        float& slope = slopes[i][e / 4].x[e % 4];
        slope = share * (slope - product[i][e % 4 / 2]);
      }
    }
    multiply_by_columns(sums, slopes, rooms.other(buffer, 0));
  });
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int first = at.first + row + 16 * i;
    store_rows(rows_of<T>(g.q, at.batch, at.head) + first * g.q.row, g.q.row, a.queries - first, a.width, sums[i],
               static_cast<float>(a.scale), static_cast<float>(a.scale));
  }
}

/// One number of each of a lane's queries, which are columns of its matrices.
template <int kColumns>
struct OfQueries {
  float x[2 * kColumns];
  __device__ OfQueries(const float* of_head, int first, int queries, float otherwise) {
#pragma unroll
    for (int i = 0; i < 2 * kColumns; ++i) {
      const int query = first + i / 2 * 8 + column_of_element(i % 2);
      x[i] = query < queries ? of_head[query] : otherwise;
    }
  }
  __device__ float of(int element) const { return x[element / 4 * 2 + element % 2]; }
};

template <class T, int kWidth>
__global__ void __launch_bounds__(kTileThreads)
    key_gradient_tiles(HB_ARGUMENT(Attention) a, HB_ARGUMENT(AttentionGrad) g, const float* products) {
  constexpr int kRows = kTall<kWidth>, kStep = kQueryStep, kColumns = kStep / 8;
  HB_DYNAMIC_SHARED(T, memory);
  const Rooms<T, kWidth, kStep> rooms{memory};
  const TilePlace at(a.keys, kOwn<kWidth>, a.kv_heads, a.batch, false);
  rooms.begin_own(a, keys_of<T>(a, at.batch, at.head), at.first);
  const int row = static_cast<int>(threadIdx.y) * 16 * kRows, from = a.causal ? at.first : 0;
  const int group = static_cast<int>(a.heads / a.kv_heads), left = static_cast<int>(a.queries) - from;
  const int tiles = left > 0 ? (left + kStep - 1) / kStep : 0;
  const auto head = [&](int step) { return at.head * group + step / tiles; };
  const auto first_of = [&](int step) { return from + step % tiles * kStep; };
  MatrixC of_key[kRows][kWidth / 8], of_value[kRows][kWidth / 8];
  const auto begin = [&](int step, int buffer) {
    rooms.begin_other(buffer, a, queries_of<T>(a, g, at.batch, head(step)), first_of(step));
  };
  walk(tiles * group, begin, [&](int step, int buffer) {
    const int first = first_of(step);
    const int queries = static_cast<int>(a.queries);
    const int64_t of_head = (at.batch * a.heads + head(step)) * a.queries;
    const OfQueries<kColumns> kept(static_cast<const float*>(a.normalizer) + of_head, first, queries, INFINITY);
    const Scores<T, true> score(a, at.batch, head(step));
    MatrixC shares[kRows][kColumns], slopes[kRows][kColumns];
    multiply_by_rows(shares, rooms.own(0), row, rooms.other(buffer, 0));
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      score.make(shares[i], at.first + row + 16 * i, first);
#pragma unroll
      for (int e = 0; e < 4 * kColumns; ++e) {
        float& share = shares[i][e / 4].x[e % 4];
        share = power_of_two(share - kept.of(e) * kLogE);
      }
    }
    const OfQueries<kColumns> product(products + of_head, first, queries, 0);
    multiply_by_columns(of_value, shares, rooms.other(buffer, 1));
    multiply_by_rows(slopes, rooms.own(1), row, rooms.other(buffer, 1));
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int e = 0; e < 4 * kColumns; ++e) {
        float& slope = slopes[i][e / 4].x[e % 4];
        slope = shares[i][e / 4].x[e % 4] * (slope - product.of(e));
      }
    multiply_by_columns(of_key, slopes, rooms.other(buffer, 0));
  });
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int first = at.first + row + 16 * i;
    store_rows(rows_of<T>(g.k, at.batch, at.head) + first * g.k.row, g.k.row, a.keys - first, a.width, of_key[i],
               static_cast<float>(a.scale), static_cast<float>(a.scale));
    store_rows(rows_of<T>(g.v, at.batch, at.head) + first * g.v.row, g.v.row, a.keys - first, a.value_width,
               of_value[i], 1, 1);
  }
}

bool gradients_are_aligned(const Attention& a, const AttentionGrad& g) {
  return is_aligned(g.grad_out, a.batch, a.heads, a.queries, a.value_width) &&
         is_aligned(g.q, a.batch, a.heads, a.queries, a.width) &&
         is_aligned(g.k, a.batch, a.kv_heads, a.keys, a.width) &&
         is_aligned(g.v, a.batch, a.kv_heads, a.keys, a.value_width);
}

}  // namespace

bool attention_backward_by_tiles(const Attention& a, const AttentionGrad& g) {
  if (a.batch * a.heads * a.queries == 0 || a.keys == 0) return false;
  return operands_are_aligned(a) && gradients_are_aligned(a, g) && with_tile(a, [&](auto type, auto width) {
           using T = decltype(type);
           constexpr int kWidth = decltype(width)::value, kRows = kOwn<kWidth>;
           const Scratch<float> products(a.batch * a.heads * a.queries);
           const dim3 block(kWarp, kTileWarps);
           HB_LAUNCH((query_gradient_tiles<T, kWidth>), blocks_of_tiles(a.queries, kRows, a.heads * a.batch), block,
                     Rooms<T, kWidth, kKeyStep<kWidth>>::kBytes, current_stream(), a, g, products.get());
           HB_LAUNCH((key_gradient_tiles<T, kWidth>), blocks_of_tiles(a.keys, kRows, a.kv_heads * a.batch), block,
                     Rooms<T, kWidth, kQueryStep>::kBytes, current_stream(), a, g, products.get());
         });
}

}  // namespace hb::cuda
