// Attention of half types and of float: a block has 128 queries of a head, each of its four warps 32, and goes over
// tiles of keys and values, of which the next are copied into shared memory while it multiplies by these.
#include "cuda/attention_tiles.h"

#include "cuda/attention_scores.h"
#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

constexpr int kTall = 2;  // 16 queries each, of a warp: a factor that is read once serves two products
constexpr int kQueries = 16 * kTileWarps * kTall;

/// Of a warp's rows, of which a lane has two in each 16: what scores are compared with, and each lane's own part of the
/// sum of powers.
struct RunningSums {
  float top[kTall][2], total[kTall][2];
  __device__ RunningSums() {
#pragma unroll
    for (int i = 0; i < 2 * kTall; ++i) top[i / 2][i % 2] = -INFINITY, total[i / 2][i % 2] = 0;
  }

  /// Before shares of factor * products are added. Any number near a row's highest score serves as well as that one,
  /// so sums are seldom multiplied: where a score is more than 2^8 times what it is compared with.
  template <int kWide, int kSums>
  __device__ void rise(const MatrixC (&products)[kTall][kWide], float factor, MatrixC (&sums)[kTall][kSums]) {
    float shrink[kTall][2];
    bool rises = false;
#pragma unroll
    for (int i = 0; i < kTall; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float highest = -INFINITY;
#pragma unroll
        for (int j = 0; j < 2 * kWide; ++j) highest = fmaxf(highest, products[i][j / 2].x[2 * half + j % 2]);
        highest = largest_of_row(highest) * factor;
        const bool above = highest > top[i][half] + 8;
        shrink[i][half] = above ? power_of_two(top[i][half] - highest) : 1;
        if (above) top[i][half] = highest;
        rises = rises || above;
      }
    if (!__any_sync(kFullWarp, rises)) return;
#pragma unroll
    for (int i = 0; i < kTall; ++i) {
      total[i][0] *= shrink[i][0], total[i][1] *= shrink[i][1];
#pragma unroll
      for (int e = 0; e < 4 * kSums; ++e) sums[i][e / 4].x[e % 4] *= shrink[i][e % 4 / 2];
    }
  }

  /// Turns two matrices of the i-th rows into shares of the sum.
  __device__ void add(int i, float factor, MatrixC& left, MatrixC& right) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float base = top[i][half] == -INFINITY ? 0 : top[i][half];  // all of them are hidden so far
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float& x = (e < 2 ? left : right).x[2 * half + e % 2];
        x = power_of_two(x * factor - base);
        total[i][half] += x;
      }
    }
  }
};

// Divides by the sums and writes what the i-th queries, from `first` on, get.
template <class T, int kWidth>
__device__ void finish(const Attention& a, const TilePlace& at, int first, const RunningSums& running, int i,
                       const MatrixC (&sums)[kWidth / 8]) {
  float scale[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float total = sum_of_row(running.total[i][half]), top = running.top[i][half];
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

template <class T, int kWidth, int kKeys>
constexpr size_t kBytes = sizeof(T) * kWidth*(kQueries + 4 * kKeys);

// kKeys: of a tile.
template <class T, int kWidth, int kKeys, bool kMasked>
__global__ void __launch_bounds__(kTileThreads, 2) attention_tiles(HB_ARGUMENT(Attention) a) {
  using Room = Tile<T, kWidth>;
  HB_DYNAMIC_SHARED(T, memory);
  const auto keys_at = [&](int buffer) { return Room{memory + (kQueries + 2 * buffer * kKeys) * kWidth}; };
  const auto values_at = [&](int buffer) { return Room{keys_at(buffer).memory + kKeys * kWidth}; };
  const TilePlace at(a.queries, kQueries, a.heads, a.batch, a.causal);
  const int64_t kv_head = at.head / (a.heads / a.kv_heads);
  TileSource<T, kWidth, kKeys> keys(rows_of<const T>(a.k, at.batch, kv_head), a.k.row, a.keys, a.width);
  TileSource<T, kWidth, kKeys> values(rows_of<const T>(a.v, at.batch, kv_head), a.v.row, a.keys, a.value_width);
  const auto begin = [&](int buffer) { keys.begin(keys_at(buffer)), values.begin(values_at(buffer)); };
  TileSource<T, kWidth, kQueries>(rows_of<const T>(a.q, at.batch, at.head) + at.first * a.q.row, a.q.row,
                                  a.queries - at.first, a.width)
      .begin(Room{memory});
  begin(0);
  wait_for_block();

  const int row = static_cast<int>(threadIdx.y) * 16 * kTall, query = at.first + row, after = at.first + kQueries;
  const int seen = a.causal && after < a.keys ? after : static_cast<int>(a.keys);
  const WarpRows<T, kTall, kWidth, kWidth == 64 && sizeof(T) == 2> of_queries(Room{memory}, row);
  const Scores<T, false, kMasked> score(a, at.batch, at.head);
  RunningSums running;
  MatrixC sums[kTall][kWidth / 8];
  walk((seen + kKeys - 1) / kKeys, begin, [&](int step, int buffer) {
    if (a.causal && step * kKeys >= query + 16 * kTall) return;  // other warps of the block see these keys
    MatrixC scores[kTall][kKeys / 8];
    multiply_by_rows(scores, of_queries, keys_at(buffer));
    const float factor = score.make(scores, query, step * kKeys);
    running.rise(scores, factor, sums);
#pragma unroll
    for (int k = 0; k < kKeys / 8; k += 2) {
      MatrixA<T> shares[kTall];
#pragma unroll
      for (int i = 0; i < kTall; ++i) {
        running.add(i, factor, scores[i][k], scores[i][k + 1]);
        shares[i] = round_matrices<T>(scores[i][k], scores[i][k + 1]);
      }
      multiply_by_columns(sums, shares, values_at(buffer), 8 * k);
    }
  });
#pragma unroll
  for (int i = 0; i < kTall; ++i) finish<T, kWidth>(a, at, query + 16 * i, running, i, sums[i]);
}

template <class T, int kWidth, int kKeys, bool kMasked>
void launch_tiles(const Attention& a) {
  constexpr size_t kShared = kBytes<T, kWidth, kKeys>;
  allow_shared<&attention_tiles<T, kWidth, kKeys, kMasked>>(kShared);
  HB_LAUNCH((attention_tiles<T, kWidth, kKeys, kMasked>), blocks_of_tiles(a.queries, kQueries, a.heads * a.batch),
            dim3(kWarp, kTileWarps), kShared, current_stream(), a);
}

}  // namespace

bool attention_by_tiles(const Attention& a) {
  return a.keys > 0 && operands_are_aligned(a) && with_tile(a, [&](auto type, auto width, auto masked) {
           using T = decltype(type);
           constexpr int kWidth = decltype(width)::value;
           constexpr bool kMasked = decltype(masked)::value;
           launch_tiles<T, kWidth, (kMasked || kWidth == 128 ? 32 : 64) / (sizeof(T) / 2), kMasked>(a);
         });
}

}  // namespace hb::cuda
