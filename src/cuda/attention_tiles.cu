// Attention of half types: a block has 64 or 128 queries of a head, its warps 16 or 32 each, and goes over tiles of
// keys. While it multiplies queries by keys, values are copied into shared memory, and the next keys while it
// multiplies by values.
#include "cuda/attention_tiles.h"

#include "cuda/attention_scores.h"
#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

// Tiles that fit in 48 KiB: wider heads have fewer queries.
template <int kWidth>
constexpr int kTall = kWidth == 64 ? 2 : 1;  // 16 queries each, of a warp
constexpr int kKeys = 64;
template <int kWidth>
constexpr int kQueries = 16 * kTileWarps* kTall<kWidth>;

/// Of 16 queries, of which a lane has two: the highest score, and the sum of powers, each lane's own part.
struct RunningSums {
  float top[2] = {-INFINITY, -INFINITY}, total[2] = {0, 0};

  /// Turns scores into shares of the highest so far, and reduces what was summed with another highest.
  template <int kWide, int kSums>
  __device__ void add(MatrixC (&scores)[kWide], MatrixC (&sums)[kSums]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float highest = top[half];
#pragma unroll
      for (int j = 0; j < kWide; ++j) highest = fmaxf(highest, fmaxf(scores[j].x[2 * half], scores[j].x[2 * half + 1]));
      highest = largest_of_row(highest);
      const float base = highest == -INFINITY ? 0 : highest;  // all of them are hidden so far
      const float shrink = power_of_two(top[half] - base);
      top[half] = highest;
      float sum = total[half] * shrink;
#pragma unroll
      for (int j = 0; j < 2 * kWide; ++j) {
        float& x = scores[j / 2].x[2 * half + j % 2];
        x = power_of_two(x - base);
        sum += x;
      }
      total[half] = sum;
#pragma unroll
      for (int j = 0; j < 2 * kSums; ++j) sums[j / 2].x[2 * half + j % 2] *= shrink;
    }
  }
};

// Divides by the sums and writes what queries from `first` on get.
template <class T, int kWidth>
__device__ void finish(const Attention& a, const TilePlace& at, int first, const RunningSums& running,
                       const MatrixC (&sums)[kWidth / 8]) {
  float scale[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float total = sum_of_row(running.total[half]), top = running.top[half];
    const bool hidden = top == -INFINITY;
    scale[half] = hidden ? 0 : 1 / total;
    const int query = first + row_of_element(2 * half);
    // Infinity: every share of a row that sees nothing is exp(-infinity).
    if (a.normalizer && threadIdx.x % 4 == 0 && query < a.queries)
      static_cast<float*>(a.normalizer)[(at.batch * a.heads + at.head) * a.queries + query] =
          hidden ? INFINITY : top * kLogTwo + std::log(total);
  }
  store_rows(rows_of<T>(a.out, at.batch, at.head) + int64_t{first} * a.out.row, a.out.row, a.queries - first,
             a.value_width, sums, scale[0], scale[1]);
}

template <class T, int kWidth>
__global__ void __launch_bounds__(kTileThreads) attention_tiles(Attention a) {
  constexpr int kRows = kTall<kWidth>;
  HB_DYNAMIC_SHARED(T, memory);
  const Tile<T, kWidth> q{memory}, k{q.memory + kQueries<kWidth> * kWidth}, v{k.memory + kKeys * kWidth};
  const TilePlace at(a.queries, kQueries<kWidth>, a.heads, a.batch, a.causal);
  const int64_t kv_head = at.head / (a.heads / a.kv_heads);
  const T* const keys = rows_of<const T>(a.k, at.batch, kv_head);
  const T* const values = rows_of<const T>(a.v, at.batch, kv_head);
  begin_tile<kQueries<kWidth>>(q, rows_of<const T>(a.q, at.batch, at.head) + int64_t{at.first} * a.q.row, a.q.row,
                               a.queries - at.first, a.width);
  begin_tile<kKeys>(k, keys, a.k.row, a.keys, a.width);

  const int row = static_cast<int>(threadIdx.y) * 16 * kRows;
  const int query = at.first + row, after = at.first + kQueries<kWidth>;
  const int seen = a.causal && after < a.keys ? after : static_cast<int>(a.keys);
  const Scores<T, false> score(a, at.batch, at.head);
  RunningSums running[kRows];
  MatrixC sums[kRows][kWidth / 8];
  for (int first = 0; first < seen; first += kKeys) {
    wait_for_copies();
    __syncthreads();  // the keys are there, and all warps have read the values before
    begin_tile<kKeys>(v, values + int64_t{first} * a.v.row, a.v.row, a.keys - first, a.value_width);
    MatrixC scores[kRows][kKeys / 8];
    multiply_by_rows(scores, q, row, k);
    wait_for_copies();
    __syncthreads();  // the values are there, and all warps have read the keys
    if (const int next = first + kKeys; next < seen)
      begin_tile<kKeys>(k, keys + int64_t{next} * a.k.row, a.k.row, a.keys - next, a.width);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      score.make(scores[i], query + 16 * i, first);
      running[i].add(scores[i], sums[i]);
    }
    multiply_by_columns(sums, scores, v);
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) finish<T, kWidth>(a, at, query + 16 * i, running[i], sums[i]);
}

}  // namespace

bool attention_by_tiles(const Attention& a) {
  return a.keys > 0 && operands_are_aligned(a) && with_tile(a, [&](auto type, auto width) {
           using T = decltype(type);
           constexpr int kWidth = decltype(width)::value, kRows = kQueries<kWidth>;
           HB_LAUNCH((attention_tiles<T, kWidth>), blocks_of_tiles(a.queries, kRows, a.heads * a.batch),
                     dim3(kWarp, kTileWarps), sizeof(T) * kWidth * (kRows + 2 * kKeys), current_stream(), a);
         });
}

}  // namespace hb::cuda
