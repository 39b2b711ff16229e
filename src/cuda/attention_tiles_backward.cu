// Gradients of attention of half types and of float. A block has queries and goes over tiles of keys, or has keys and
// goes over tiles of queries; both compute the shares anew from what the forward pass kept of each query. Nothing is
// added by atomics, so that gradients are the same each time.
#include "cuda/attention_scores.h"
#include "cuda/attention_tiles.h"
#include "cuda/convert.h"
#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

/// How a kernel divides its work: 16 kTall rows of a warp, kStep rows of what a block goes over, and which of a warp's
/// own factors stay in registers (WarpRows). Chosen so that registers and 227 KiB of shared memory hold two blocks.
template <int kTallRows, int kStepRows, bool kKeepX, bool kKeepY>
struct Plan {
  static constexpr int kTall = kTallRows, kStep = kStepRows, kOwn = 16 * kTileWarps * kTall, kColumns = kStep / 8;
  static constexpr bool kFirst = kKeepX, kSecond = kKeepY;
};
template <class T, int kWidth, bool kMasked>
using QueryPlan = std::conditional_t<
    std::is_same_v<T, float>, std::conditional_t<kWidth == 64, Plan<2, 32, false, false>, Plan<1, 16, false, false>>,
    std::conditional_t<kWidth == 64, Plan<2, 32, true, false>, Plan<2, kMasked ? 16 : 32, false, false>>>;
template <class T, int kWidth, bool kMasked>
using KeyPlan = std::conditional_t<
    kWidth == 128, Plan<1, 16, false, false>,
    std::conditional_t<kMasked, Plan<1, 32, false, false>, Plan<2, 16, !std::is_same_v<T, float>, false>>>;

/// Rows that belong together: queries and gradients of their results, or keys and values.
template <class T, int kWidth, int kRows>
struct Rows {
  TileSource<T, kWidth, kRows> x, y;
  __device__ void begin(const Tile<T, kWidth>& to_x, const Tile<T, kWidth>& to_y) { x.begin(to_x), y.begin(to_y); }
};
template <class T, int kWidth, int kRows>
__device__ Rows<T, kWidth, kRows> queries_of(const Attention& a, const AttentionGrad& g, int64_t batch, int64_t head,
                                             int64_t first) {
  return {{rows_of<const T>(a.q, batch, head) + first * a.q.row, a.q.row, a.queries - first, a.width},
          {rows_of<const T>(g.grad_out, batch, head) + first * g.grad_out.row, g.grad_out.row, a.queries - first,
           a.value_width}};
}
template <class T, int kWidth, int kRows>
__device__ Rows<T, kWidth, kRows> keys_of(const Attention& a, int64_t batch, int64_t head, int64_t first) {
  return {{rows_of<const T>(a.k, batch, head) + first * a.k.row, a.k.row, a.keys - first, a.width},
          {rows_of<const T>(a.v, batch, head) + first * a.v.row, a.v.row, a.keys - first, a.value_width}};
}

/// A block's shared memory: its own tiles, two buffers of those that it goes over, and as many of kNumbers numbers that
/// each of their rows has.
template <class T, int kWidth, class P, int kNumbers>
struct Rooms {
  using Tiles = Tile<T, kWidth>;
  static constexpr int kTiles = kWidth * 2 * (P::kOwn + 2 * P::kStep);  // elements
  static constexpr size_t kBytes = sizeof(T) * kTiles + sizeof(float) * 2 * kNumbers * P::kStep;
  T* memory;
  __device__ Tiles own(int i) const { return {memory + i * P::kOwn * kWidth}; }
  __device__ Tiles other(int buffer, int i) const {
    return {memory + (2 * P::kOwn + (2 * buffer + i) * P::kStep) * kWidth};
  }
  __device__ float* numbers(int buffer, int i) const {
    return reinterpret_cast<float*>(memory + kTiles) + (kNumbers * buffer + i) * P::kStep;
  }
};

// grad_out * out of a query, summed by the four lanes that have its row.
template <class T>
__device__ float product_of(const Attention& a, const AttentionGrad& g, const TilePlace& at, int query) {
  constexpr ScalarType kType = dtype_of<T>::value;
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

template <class T, int kWidth, bool kMasked>
__global__ void __launch_bounds__(kTileThreads, 2)
    query_gradient_tiles(HB_ARGUMENT(Attention) a, HB_ARGUMENT(AttentionGrad) g, float* products) {
  using P = QueryPlan<T, kWidth, kMasked>;
  constexpr int kTall = P::kTall;
  HB_DYNAMIC_SHARED(T, memory);
  const Rooms<T, kWidth, P, 0> rooms{memory};
  const TilePlace at(a.queries, P::kOwn, a.heads, a.batch, a.causal);
  auto keys = keys_of<T, kWidth, P::kStep>(a, at.batch, at.head / (a.heads / a.kv_heads), 0);
  const auto begin = [&](int buffer) { keys.begin(rooms.other(buffer, 0), rooms.other(buffer, 1)); };
  queries_of<T, kWidth, P::kOwn>(a, g, at.batch, at.head, at.first).begin(rooms.own(0), rooms.own(1));
  begin(0);
  const int row = static_cast<int>(threadIdx.y) * 16 * kTall, query = at.first + row, after = at.first + P::kOwn;
  float kept[kTall][2], product[kTall][2];
#pragma unroll
  for (int i = 0; i < 2 * kTall; ++i) {
    const int mine = query + i / 2 * 16 + row_of_element(i % 2 * 2);
    const int64_t place = (at.batch * a.heads + at.head) * a.queries + mine;
    const bool there = mine < a.queries;
    product[i / 2][i % 2] = product_of<T>(a, g, at, mine);
    kept[i / 2][i % 2] = there ? static_cast<const float*>(a.normalizer)[place] * kLogE : INFINITY;
    if (there && threadIdx.x % 4 == 0) products[place] = product[i / 2][i % 2];
  }
  wait_for_block();

  const int seen = a.causal && after < a.keys ? after : static_cast<int>(a.keys);
  const Scores<T, false, kMasked> score(a, at.batch, at.head);
  const WarpRows<T, kTall, kWidth, P::kFirst> queries(rooms.own(0), row);
  const WarpRows<T, kTall, kWidth, P::kSecond> grads(rooms.own(1), row);
  MatrixC sums[kTall][kWidth / 8];
  walk((seen + P::kStep - 1) / P::kStep, begin, [&](int step, int buffer) {
    if (a.causal && step * P::kStep >= query + 16 * kTall) return;  // other warps of the block see these keys
    MatrixC shares[kTall][P::kColumns], slopes[kTall][P::kColumns];
    multiply_by_rows(shares, queries, rooms.other(buffer, 0));
    multiply_by_rows(slopes, grads, rooms.other(buffer, 1));
    const float factor = score.make(shares, query, step * P::kStep);
#pragma unroll
    for (int i = 0; i < kTall; ++i)
#pragma unroll
      for (int e = 0; e < 4 * P::kColumns; ++e) {
        const float share = power_of_two(shares[i][e / 4].x[e % 4] * factor - kept[i][e % 4 / 2]);
        float& slope = slopes[i][e / 4].x[e % 4];
        slope = share * (slope - product[i][e % 4 / 2]);
      }
    multiply_by_columns(sums, slopes, rooms.other(buffer, 0));
  });
#pragma unroll
  for (int i = 0; i < kTall; ++i) {
    const int first = query + 16 * i;
    store_rows(rows_of<T>(g.q, at.batch, at.head) + first * g.q.row, g.q.row, a.queries - first, a.width, sums[i],
               static_cast<float>(a.scale), static_cast<float>(a.scale));
  }
}

/// What the kernels before kept of each query, copied into shared memory beside its tiles: normalizers, then products,
/// zeros after the last query.
template <int kStep>
struct Numbers {
  static_assert(2 * kStep <= kTileThreads);
  const float* next;  // what this thread copies
  int place, left;
  __device__ Numbers(const Attention& a, const float* products, int64_t first, int queries)
      : place(static_cast<int>(threadIdx.y * kWarp + threadIdx.x)), left(queries - place % kStep) {
    next = (place < kStep ? static_cast<const float*>(a.normalizer) : products) + first + place % kStep;
  }
  __device__ void begin(float* to) {
    if (place < 2 * kStep) begin_copy_of_float(to + place, next, left > 0);
    next += kStep, left -= kStep;
  }
  __device__ void go_back(int rows, int64_t elements) { next += elements - rows, left += rows; }
};

/// One number of each of a lane's queries, which are columns of its matrices.
template <int kColumns>
struct OfQueries {
  float2 x[kColumns];
  __device__ OfQueries(const float* of_tile) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) x[j] = load_vector<float2>(of_tile + 8 * j + column_of_element(0));
  }
  __device__ float of(int element) const { return element % 2 ? x[element / 4].y : x[element / 4].x; }
};

template <class T, int kWidth, bool kMasked, class P>
__global__ void __launch_bounds__(kTileThreads, 2)
    key_gradient_tiles(HB_ARGUMENT(Attention) a, HB_ARGUMENT(AttentionGrad) g, const float* products) {
  constexpr int kTall = P::kTall, kElements = 4 * P::kColumns;
  HB_DYNAMIC_SHARED(T, memory);
  const Rooms<T, kWidth, P, 2> rooms{memory};
  const TilePlace at(a.keys, P::kOwn, a.kv_heads, a.batch, false);
  keys_of<T, kWidth, P::kOwn>(a, at.batch, at.head, at.first).begin(rooms.own(0), rooms.own(1));
  const int row = static_cast<int>(threadIdx.y) * 16 * kTall, key = at.first + row, from = a.causal ? at.first : 0;
  const int group = static_cast<int>(a.heads / a.kv_heads), left = static_cast<int>(a.queries) - from;
  const int steps = left > 0 ? (left + P::kStep - 1) / P::kStep : 0;
  MatrixC of_key[kTall][kWidth / 8], of_value[kTall][kWidth / 8];
  auto queries = queries_of<T, kWidth, P::kStep>(a, g, at.batch, at.head * group, from);
  Numbers<P::kStep> numbers(a, products, (at.batch * a.heads + at.head * group) * a.queries + from, left);
  const auto begin = [&](int buffer) {
    queries.begin(rooms.other(buffer, 0), rooms.other(buffer, 1));
    numbers.begin(rooms.numbers(buffer, 0));
  };
  for (int i = 0; i < group && steps > 0; ++i) {  // heads that share the keys
    begin(0);
    wait_for_block();
    const WarpRows<T, kTall, kWidth, P::kFirst> keys(rooms.own(0), row);
    const WarpRows<T, kTall, kWidth, P::kSecond> values(rooms.own(1), row);
    const Scores<T, true, kMasked> score(a, at.batch, at.head * group + i);
    walk(steps, begin, [&](int step, int buffer) {
      const int first = from + step * P::kStep;
      if (a.causal && first + P::kStep <= key) return;  // other warps of the block have keys that these queries see
      MatrixC shares[kTall][P::kColumns], slopes[kTall][P::kColumns];
      multiply_by_rows(shares, keys, rooms.other(buffer, 0));
      const float factor = score.make(shares, key, first);
      const OfQueries<P::kColumns> kept(rooms.numbers(buffer, 0));
#pragma unroll
      for (int i = 0; i < kTall * kElements; ++i) {
        float& share = shares[i / kElements][i % kElements / 4].x[i % 4];
        share = power_of_two(share * factor - kept.of(i % kElements) * kLogE);
      }
      multiply_by_columns(of_value, shares, rooms.other(buffer, 1));
      const OfQueries<P::kColumns> product(rooms.numbers(buffer, 1));
#pragma unroll
      for (int i = 0; i < kTall * kElements; ++i)
        slopes[i / kElements][i % kElements / 4].x[i % 4] = -product.of(i % kElements);
      multiply_by_rows(slopes, values, rooms.other(buffer, 1));
#pragma unroll
      for (int i = 0; i < kTall * kElements; ++i)
        slopes[i / kElements][i % kElements / 4].x[i % 4] *= shares[i / kElements][i % kElements / 4].x[i % 4];
      multiply_by_columns(of_key, slopes, rooms.other(buffer, 0));
    });
    queries.x.go_back(steps * P::kStep, a.q.head), queries.y.go_back(steps * P::kStep, g.grad_out.head);
    numbers.go_back(steps * P::kStep, a.queries);
  }
#pragma unroll
  for (int i = 0; i < kTall; ++i) {
    const int first = key + 16 * i;
    store_rows(rows_of<T>(g.k, at.batch, at.head) + first * g.k.row, g.k.row, a.keys - first, a.width, of_key[i],
               static_cast<float>(a.scale), static_cast<float>(a.scale));
    store_rows(rows_of<T>(g.v, at.batch, at.head) + first * g.v.row, g.v.row, a.keys - first, a.value_width,
               of_value[i], 1, 1);
  }
}

bool gradients_are_aligned(const Attention& a, const AttentionGrad& g) {
  return is_aligned(a.dtype, g.grad_out, a.batch, a.heads, a.queries, a.value_width) &&
         is_aligned(a.dtype, g.q, a.batch, a.heads, a.queries, a.width) &&
         is_aligned(a.dtype, g.k, a.batch, a.kv_heads, a.keys, a.width) &&
         is_aligned(a.dtype, g.v, a.batch, a.kv_heads, a.keys, a.value_width);
}

template <class T, int kWidth, bool kMasked, class P>
void launch_key_gradient(const Attention& a, const AttentionGrad& g, const float* products) {
  constexpr size_t kShared = Rooms<T, kWidth, P, 2>::kBytes;
  allow_shared<&key_gradient_tiles<T, kWidth, kMasked, P>>(kShared);
  HB_LAUNCH((key_gradient_tiles<T, kWidth, kMasked, P>), blocks_of_tiles(a.keys, P::kOwn, a.kv_heads * a.batch),
            dim3(kWarp, kTileWarps), kShared, current_stream(), a, g, products);
}
template <class T, int kWidth, bool kMasked>
void launch_gradients(const Attention& a, const AttentionGrad& g) {
  using P = QueryPlan<T, kWidth, kMasked>;
  constexpr size_t kShared = Rooms<T, kWidth, P, 0>::kBytes;
  const Scratch<float> products(a.batch * a.heads * a.queries);
  allow_shared<&query_gradient_tiles<T, kWidth, kMasked>>(kShared);
  HB_LAUNCH((query_gradient_tiles<T, kWidth, kMasked>), blocks_of_tiles(a.queries, P::kOwn, a.heads * a.batch),
            dim3(kWarp, kTileWarps), kShared, current_stream(), a, g, products.get());
  launch_key_gradient<T, kWidth, kMasked, KeyPlan<T, kWidth, kMasked>>(a, g, products.get());
}

}  // namespace

bool attention_backward_by_tiles(const Attention& a, const AttentionGrad& g) {
  if (a.batch * a.heads * a.queries == 0 || a.keys == 0) return false;
  return operands_are_aligned(a) && gradients_are_aligned(a, g) &&
         with_tile(a,
                   [&](auto type, auto width, auto masked) { launch_gradients<decltype(type), width, masked>(a, g); });
}

}  // namespace hb::cuda
