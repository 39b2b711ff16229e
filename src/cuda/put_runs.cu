// Rows that are added, multiplied or compared by index, in a fixed order. The index is sorted, so that what meets in a
// row is a run. Runs are as long as the index makes them: a thread (or warp) takes a piece of kPiece places, and what
// belongs to a run that began in an earlier piece is carried to a second launch.
#include "cuda/put_runs.h"

#include <algorithm>

#include "cuda/put.h"
#include "cuda/search.h"
#include "cuda/sorted_index.h"
#include "cuda/walk.h"
#include "formulas/compared.h"

namespace hb::cuda {
namespace {

constexpr int kPiece = kWarp;

template <class T>
constexpr bool is_small_integer = std::is_integral_v<T> && sizeof(T) < 4;
/// What meets is put together in this.
template <class T>
using Met = std::conditional_t<is_half_v<T>, float, std::conditional_t<is_small_integer<T>, int32_t, T>>;

template <class T>
struct Runs {
  T* out;
  const T* in;
  const uint32_t* rows;  // ascending
  const int32_t* places;
  Met<T>* carried;  // (pieces, columns)
  int64_t count, limit, inner, columns, pieces;
  Splitter by_inner, by_columns;

  __device__ bool begins(int64_t j) const { return j == 0 || rows[j - 1] != rows[j]; }
  // Where a column begins in `out` and in `in`.
  __device__ void begin(int64_t column, T** to, const T** from) const {
    int64_t o = column;
    const int64_t c = by_inner.split(o);
    *to = out + o * limit * inner + c;
    *from = in + o * count * inner + c;
  }
};

// A thread for a piece of one column; neighbours take neighbouring columns.
template <class T, PutOp op>
__global__ void put_wide(HB_ARGUMENT(Runs<T>) r) {
  using M = Met<T>;
  constexpr int kTogether = sizeof(T) > 4 ? 4 : 8;
  enum class Held { nothing, earlier_run, run };
  HB_GRID_LOOP(i, r.pieces * r.columns) {
    int64_t piece = i;
    const int64_t column = r.by_columns.split(piece), first = piece * kPiece;
    const int last = static_cast<int>(first + kPiece < r.count ? kPiece : r.count - first);
    T* to;
    const T* from;
    r.begin(column, &to, &from);
    Held held = Held::nothing;
    uint32_t row = 0;
    M met{};
    const auto release = [&] {
      if (held == Held::run && row < r.limit) to[row * r.inner] = static_cast<T>(met);
      if (held == Held::earlier_run) r.carried[i] = met;
    };
    for (int at = 0; at < last; at += kTogether) {
      uint32_t rows[kTogether];
      bool begins[kTogether];
      M value[kTogether], before[kTogether];
#pragma unroll
      for (int e = 0; e < kTogether; ++e) {
        const int64_t j = first + at + e;
        rows[e] = static_cast<uint32_t>(r.limit), begins[e] = false, value[e] = before[e] = M{};
        if (at + e >= last) continue;
        rows[e] = r.rows[j], begins[e] = r.begins(j);
        if (rows[e] >= r.limit) continue;
        value[e] = static_cast<M>(from[r.places[j] * r.inner]);
        if (begins[e]) before[e] = static_cast<M>(to[rows[e] * r.inner]);
      }
#pragma unroll
      for (int e = 0; e < kTogether; ++e) {
        if (at + e >= last) continue;
        if (begins[e]) {
          release();
          held = Held::run, row = rows[e], met = combined<op>(before[e], value[e]);
        } else if (held == Held::nothing) {
          held = Held::earlier_run, row = rows[e], met = value[e];
        } else {
          met = combined<op>(met, value[e]);
        }
      }
    }
    release();
  }
}

// A warp for a piece of several columns, a lane for each place: of columns that are not neighbours in memory, it is the
// rows that are.
template <class T, PutOp op>
__global__ void put_narrow(HB_ARGUMENT(Runs<T>) r) {
  using M = Met<T>;
  constexpr int kTogether = 4;
  const int64_t piece = blockIdx.x, j = piece * kPiece + threadIdx.x;
  const bool there = j < r.count, begins = !there || r.begins(j);
  const uint32_t row = there ? r.rows[j] : static_cast<uint32_t>(r.limit);
  const bool good = row < r.limit;
  const int64_t place = good ? r.places[j] : 0;
  const int lane = static_cast<int>(threadIdx.x);
  const unsigned later = static_cast<unsigned>(uint64_t{__ballot_sync(kFullWarp, begins)} >> (lane + 1));
  const int end = later ? lane + __ffs(static_cast<int>(later)) : kWarp;
  const int64_t step = int64_t{gridDim.y} * blockDim.y;
  for (int64_t first = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; first < r.columns; first += kTogether * step) {
    T* to[kTogether];
    M value[kTogether], before[kTogether];
#pragma unroll
    for (int e = 0; e < kTogether; ++e) {
      value[e] = before[e] = M{};
      if (!good || first + e * step >= r.columns) continue;
      const T* from;
      r.begin(first + e * step, &to[e], &from);
      value[e] = static_cast<M>(from[place * r.inner]);
      if (begins) before[e] = static_cast<M>(to[e][row * r.inner]);
    }
#pragma unroll
    for (int e = 0; e < kTogether; ++e) {
      M met = value[e];
      for (int d = 1; d < kWarp; d *= 2) {
        const M next = __shfl_down_sync(kFullWarp, met, static_cast<unsigned>(d));
        if (lane + d < end) met = combined<op>(met, next);
      }
      if (!good || first + e * step >= r.columns) continue;
      if (begins)
        to[e][row * r.inner] = static_cast<T>(combined<op>(before[e], met));
      else if (lane == 0)
        r.carried[piece * r.columns + first + e * step] = met;
    }
  }
}

// What was carried from the pieces after the one in which a run began, by one block of kParts threads for each column.
template <class T, PutOp op>
__global__ void join_pieces(HB_ARGUMENT(Runs<T>) r) {
  using M = Met<T>;
  const int64_t piece = int64_t{blockIdx.x} + 1, first = piece * kPiece;
  const uint32_t row = r.rows[first];
  if (row >= r.limit || r.begins(first)) return;
  if (first > kPiece && r.rows[first - kPiece - 1] == row) return;  // it began before
  const int64_t after = r.count - first;
  const int64_t places = r.rows[r.count - 1] == row ? after : first_beyond(r.rows + first, after, row);
  const int64_t pieces = (places + kPiece - 1) / kPiece;
  HB_SHARED(M, parts, kThreads);
  const int part = static_cast<int>(threadIdx.y), all = static_cast<int>(blockDim.y);
  for (int64_t base = int64_t{blockIdx.y} * kWarp; base < r.columns; base += int64_t{gridDim.y} * kWarp) {
    const int64_t column = base + threadIdx.x;
    const int64_t begin = pieces * part / all, end = pieces * (part + 1) / all;
    if (column < r.columns && begin < end) {
      const M* const carried = r.carried + piece * r.columns + column;
      M met = carried[begin * r.columns];
#pragma unroll 4
      for (int64_t k = begin + 1; k < end; ++k) met = combined<op>(met, carried[k * r.columns]);
      parts[part * kWarp + static_cast<int>(threadIdx.x)] = met;
    }
    __syncthreads();
    if (column < r.columns && part == 0) {
      T* to;
      const T* from;
      r.begin(column, &to, &from);
      M met = static_cast<M>(to[row * r.inner]);
      for (int k = 0; k < all; ++k)
        if (pieces * k / all < pieces * (k + 1) / all)
          met = combined<op>(met, parts[k * kWarp + static_cast<int>(threadIdx.x)]);
      to[row * r.inner] = static_cast<T>(met);
    }
    __syncthreads();
  }
}

template <class T, PutOp op>
void launch_runs(const Runs<T>& r) {
  constexpr int kParts = kThreads / kWarp;
  bool narrow = false;
  if constexpr (!is_complex_v<T>) narrow = r.inner < kWarp;
  if (!narrow) {
    HB_LAUNCH((put_wide<T, op>), blocks_for(r.pieces * r.columns), kThreads, 0, current_stream(), r);
  } else if constexpr (!is_complex_v<T>) {
    const int64_t groups = std::min<int64_t>((r.columns + 8 * kParts - 1) / (8 * kParts), 65535);
    HB_LAUNCH((put_narrow<T, op>), dim3(static_cast<unsigned>(r.pieces), static_cast<unsigned>(groups)),
              dim3(kWarp, kParts), 0, current_stream(), r);
  }
  if (r.pieces > 1)
    HB_LAUNCH((join_pieces<T, op>),
              dim3(static_cast<unsigned>(r.pieces - 1),
                   static_cast<unsigned>(std::min<int64_t>((r.columns + kWarp - 1) / kWarp, 8))),
              dim3(kWarp, kParts), 0, current_stream(), r);
}

}  // namespace

void put_runs(const char* name, const Tensor& out, const Tensor& index, const Tensor& in, Lines l, PutOp op) {
  const int64_t count = index.numel(), columns = l.outer * l.inner, pieces = (count + kPiece - 1) / kPiece;
  if (count * columns == 0) return;
  const SortedIndex sorted(name, static_cast<const int64_t*>(index.impl().raw_data()), count, l.n,
                           reporter(name, kBadRow));
  with_dtype(name, out.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const Scratch<Met<T>> carried(pieces * columns);
    const Runs<T> runs{static_cast<T*>(out.impl().visible_data()),
                       static_cast<const T*>(in.impl().visible_data()),
                       sorted.rows(),
                       sorted.places(),
                       carried.get(),
                       count,
                       l.n,
                       l.inner,
                       columns,
                       pieces,
                       Splitter(l.inner, columns),
                       Splitter(columns, pieces * columns)};
    with_put(op, [&](auto put) {
      constexpr PutOp kOp = decltype(put)::value;
      if constexpr (kOp != PutOp::assign) launch_runs<T, kOp>(runs);
    });
  });
}

}  // namespace hb::cuda
