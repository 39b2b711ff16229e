#pragma once
// Reductions that leave neighbours in memory apart: first dimensions, the middle one of three.

#include "cuda/reduce_parts.h"
#include "cuda/scratch.h"

namespace hb::cuda {

/// Lines of neighbours, `count` of which are added to each other. A thread has a chunk of a line, of one or more
/// columns.
struct Columns {
  const char* in = nullptr;
  Places line = {}, row = {};
  int64_t outputs = 0, count = 0;
  int64_t cols = 0, chunks = 0, per_line = 0;
  bool vectors = false;  // chunks of 16 bytes
  int wide = kThreads;   // threads of a block that are neighbours; the others have other rows
  int parts = 1;         // blocks that share a result
  int64_t each = 0;      // rows in a part
  int deep() const { return kThreads / wide; }
  int64_t groups() const { return (chunks + wide - 1) / wide; }
};

inline void share_columns(Columns& c, int64_t each) {
  c.per_line = c.cols / each, c.chunks = c.outputs / each;
  const int64_t least = std::min<int64_t>(kWarp, 128 / each);  // few columns of a block have few partial results
  while (c.wide > least && c.count >= kThreads / c.wide * 16) c.wide /= 2;
  while (c.wide > 1 && c.wide / 2 >= c.chunks) c.wide /= 2;
  const int64_t groups = c.groups(), batches = (c.count + c.deep() * 8 - 1) / (c.deep() * 8);
  const int64_t columns = c.wide * each, few = 64 * std::max<int64_t>(1, kThreads / columns);  // for the last block
  if (groups <= kBusyBlocks / 2 && groups <= kBlockCounters)
    c.parts = static_cast<int>(std::min({(kBusyBlocks + groups - 1) / groups, batches, few}));
  c.each = (batches + c.parts - 1) / c.parts * c.deep() * 8;
  c.parts = static_cast<int>((c.count + c.each - 1) / c.each);
}

inline bool plan_columns(Columns& c, const ReduceLoop& l, int64_t size) {
  if (l.kept_in[0] != size || l.outputs > (int64_t{1} << 31) - 1) return false;
  DimVector lines, strides;
  c.vectors = l.kept[0] % (16 / size) == 0 && reinterpret_cast<uintptr_t>(l.in) % 16 == 0;
  for (size_t d = 1; d < l.kept.size(); ++d) {
    lines.push_back(l.kept[d]), strides.push_back(l.kept_in[d]);
    c.vectors = c.vectors && l.kept_in[d] % 16 == 0;
  }
  for (const int64_t stride : l.reduced_in) c.vectors = c.vectors && stride % 16 == 0;
  c.in = l.in, c.outputs = l.outputs, c.count = l.count, c.cols = l.kept[0];
  c.line = places("reduce", lines, strides, l.outputs / c.cols);
  c.row = places("reduce", l.reduced, l.reduced_in, l.count);
  share_columns(c, c.vectors ? 16 / size : 1);
  return true;
}
inline Columns contiguous_columns(const char* in, const Lines& l, int64_t size, bool may_load = true) {
  Columns c{in};
  c.outputs = l.outer * l.inner, c.count = l.n, c.cols = l.inner;
  c.line.stride[0] = l.n * l.inner * size;
  c.row.stride[0] = l.inner * size;
  c.vectors = may_load && l.inner % (16 / size) == 0 && reinterpret_cast<uintptr_t>(in) % 16 == 0;
  share_columns(c, c.vectors ? 16 / size : 1);
  return c;
}

#ifdef HB_DEVICE_CODE
/// Threads of the first row get what those below them have. All threads of the block call it.
template <class R>
__device__ inline typename R::Part merged_down(typename R::Part mine, int wide) {
  using Part = typename R::Part;
  if (wide == kThreads) return mine;
  HB_SHARED(Part, of_threads, kThreads);
  const int thread = static_cast<int>(threadIdx.x);
  __syncthreads();  // those of the merge before have been read
  of_threads[thread] = mine;
  for (int half = kThreads / 2; half >= wide; half /= 2) {
    __syncthreads();
    if (thread < half) of_threads[thread] = mine = R::merged(mine, of_threads[thread + half]);
  }
  return mine;
}

/// Calls f(column of the block, what all its threads have of it): neighbours get neighbouring columns, so that all
/// merge, and write side by side. All threads of the block call it.
template <class R, int kEach, class F>
__device__ inline void each_column(typename R::Part (&mine)[kEach], int wide, const F& f) {
  using Part = typename R::Part;
  constexpr int kRoom = (32 << 10) / (kThreads * static_cast<int>(sizeof(Part)));
  constexpr int kAtOnce = kRoom >= kEach ? kEach : kRoom >= 8 ? 8 : 4, kGap = 16 / kAtOnce;  // of different banks
  static_assert(kRoom >= 4 && kEach % kAtOnce == 0);
  HB_SHARED(Part, shared, kThreads * kAtOnce + kThreads / 2);
  const int thread = static_cast<int>(threadIdx.x), lanes = wide < kWarp ? kWarp : wide, line = wide + kGap;
  for (int of_warp = kWarp / 2; of_warp >= wide; of_warp /= 2)
    each_below<kEach>([&](auto e) { mine[e] = R::merged(mine[e], R::from_lane(mine[e], of_warp)); });
  each_below<kEach / kAtOnce>([&](auto turn) {
    __syncthreads();  // those of the turn before have been read
    if (thread % lanes < wide)
      each_below<kAtOnce>(
          [&](auto e) { shared[(thread / lanes * kAtOnce + e) * line + thread % lanes] = mine[turn * kAtOnce + e]; });
    __syncthreads();
    for (int column = thread; column < wide * kAtOnce; column += kThreads) {
      const int x = column / kAtOnce, e = column % kAtOnce;
      Part all = shared[e * line + x];
      for (int y = 1; y < kThreads / lanes; ++y) all = R::merged(all, shared[(y * kAtOnce + e) * line + x]);
      f(x * kEach + turn * kAtOnce + e, all);
    }
  });
}

/// What all parts have of a column, for the first of the threads of that column, which share them.
template <class R>
__device__ inline typename R::Part merged_parts(const typename R::Part* from, int64_t outputs, int parts, int wide) {
  constexpr int kLoads = 64 / static_cast<int>(sizeof(typename R::Part));
  const int deep = kThreads / wide;
  typename R::Part all = R::none();
  int p = static_cast<int>(threadIdx.x) / wide;
  const auto take = [&](auto many) {
    typename R::Part some[many];
    each_below<many>([&](auto k) { some[k] = R::from_other(from + (p + k * deep) * outputs); });
    each_below<many>([&](auto k) { all = R::merged(all, some[k]); });
    p += many * deep;
  };
#pragma unroll 1
  while (from && p + (kLoads - 1) * deep < parts) take(std::integral_constant<int, kLoads>());
#pragma unroll 1
  while (from && p < parts) take(std::integral_constant<int, 1>());
  return merged_down<R>(all, wide);
}

/// Every `deep`th row of a chunk, so many at a time, and in the end fewer. All are loaded at first, whatever comes of
/// them.
template <class R, int kEach, int kRows, class Mine, class Offset>
__device__ inline void take_rows(Mine& mine, const char* from, int64_t row, int64_t end, int deep, const Offset& offset,
                                 const typename R::Results& results) {
#pragma unroll 1
  while (row + (kRows - 1) * deep < end) {
    typename R::template Loads<kEach> v[kRows];
    each_below<kRows>(
        [&](auto k) { R::load(v[k], reinterpret_cast<const typename R::X*>(from + offset(row + k * deep)), results); });
    each_below<kEach>([&](auto e) { mine[e].begin(v[0].template get<e>()); });
    each_below<kRows>([&](auto k) {
      each_below<kEach>([&](auto e) { mine[e].template take<0>(v[k].template get<e>(), row + k * deep); });
    });
    row += kRows * deep;
  }
  if constexpr (kRows > 1) take_rows<R, kEach, kRows / 2>(mine, from, row, end, deep, offset, results);
}

template <class R, int kEach>
__global__ void __launch_bounds__(kThreads, R::kBlocks)
    reduce_columns(HB_ARGUMENT(Columns) w, HB_ARGUMENT(typename R::Results) results, typename R::Part* partial,
                   int* counters) {
  using X = typename R::X;
  using Part = typename R::Part;
  const int x = static_cast<int>(threadIdx.x) % w.wide, y = static_cast<int>(threadIdx.x) / w.wide,
            deep = kThreads / w.wide;
  const int64_t chunk = int64_t{blockIdx.x} * w.wide + x, line = chunk / w.per_line;
  const int64_t column = (chunk - line * w.per_line) * kEach;
  const bool there = chunk < w.chunks;
  const char* const from = w.in + (there ? w.line(line) + column * static_cast<int64_t>(sizeof(X)) : 0);
  const int64_t begin = blockIdx.y * w.each, end = begin + w.each < w.count ? begin + w.each : w.count;
  typename R::template Mine<1> mine[kEach];
  each_below<kEach>([&](auto e) { mine[e].prepare(results); });
  constexpr int kRows = kEach == 1 ? 2 * kInFlight : kInFlight;
  if (there && w.row.dims == 1)
    take_rows<R, kEach, kRows>(
        mine, from, begin + y, end, deep, [&](int64_t row) { return row * w.row.stride[0]; }, results);
  else if (there)
    take_rows<R, kEach, 2>(mine, from, begin + y, end, deep, w.row, results);
  Part part[kEach];
  each_below<kEach>([&](auto e) { part[e] = mine[e].part(); });
  const int64_t base = int64_t{blockIdx.x} * w.wide * kEach;
  const int columns = w.wide * kEach;
  each_column<R, kEach>(part, w.wide, [&](int column, const Part& all) {
    if (base + column >= w.outputs) return;
    if (w.parts == 1)
      results.store(base + column, all);
    else
      partial[blockIdx.y * w.outputs + base + column] = all;
  });
  if (w.parts == 1 || !is_last_block(counters + blockIdx.x, w.parts)) return;
  const int at_once = columns < kThreads ? columns : kThreads;
  for (int first = 0; first < columns; first += at_once) {
    const int64_t output = base + first + static_cast<int>(threadIdx.x) % at_once;
    const Part all = merged_parts<R>(output < w.outputs ? partial + output : nullptr, w.outputs, w.parts, at_once);
    if (output < w.outputs && static_cast<int>(threadIdx.x) < at_once) results.store(output, all);
  }
}

template <class R>
void launch_columns(const Columns& c, const typename R::Results& results) {
  constexpr int kEach = 16 / sizeof(typename R::X);
  const Scratch<typename R::Part> partial(c.parts > 1 ? c.parts * c.outputs : 0);
  int* const counters = c.parts > 1 ? block_counters(current_stream()) : nullptr;
  const dim3 grid(static_cast<unsigned>(c.groups()), static_cast<unsigned>(c.parts));
  if (c.vectors)
    HB_LAUNCH((reduce_columns<R, kEach>), grid, kThreads, 0, current_stream(), c, results, partial.get(), counters);
  else
    HB_LAUNCH((reduce_columns<R, 1>), grid, kThreads, 0, current_stream(), c, results, partial.get(), counters);
}
#endif

}  // namespace hb::cuda
