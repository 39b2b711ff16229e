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
  while (c.wide > kWarp && c.count >= kThreads / c.wide * 16) c.wide /= 2;
  while (c.wide > 1 && c.wide / 2 >= c.chunks) c.wide /= 2;
  const int64_t groups = c.groups(), batches = (c.count + c.deep() * 8 - 1) / (c.deep() * 8);
  if (groups <= kBusyBlocks / 2 && groups <= kBlockCounters)
    c.parts = static_cast<int>(std::min((kBusyBlocks + groups - 1) / groups, batches));
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
inline Columns contiguous_columns(const char* in, const Lines& l, int64_t size) {
  Columns c{in};
  c.outputs = l.outer * l.inner, c.count = l.n, c.cols = l.inner;
  c.line.stride[0] = l.n * l.inner * size;
  c.row.stride[0] = l.inner * size;
  c.vectors = l.inner % (16 / size) == 0 && reinterpret_cast<uintptr_t>(in) % 16 == 0;
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

/// Every `deep`th row of a chunk, so many at a time, and in the end fewer. All are loaded at first, whatever comes of
/// them.
template <class R, int kEach, int kRows, class Mine, class Offset>
__device__ inline void take_rows(Mine& mine, const char* from, int64_t row, int64_t end, int deep,
                                 const Offset& offset) {
#pragma unroll 1
  while (row + (kRows - 1) * deep < end) {
    Chunk<typename R::X, kEach> v[kRows];
    each_below<kRows>(
        [&](auto k) { v[k].load(reinterpret_cast<const typename R::X*>(from + offset(row + k * deep))); });
    each_below<kEach>([&](auto e) { mine[e].begin(v[0].template get<e>()); });
    each_below<kRows>([&](auto k) {
      each_below<kEach>([&](auto e) { mine[e].template take<0>(v[k].template get<e>(), row + k * deep); });
    });
    row += kRows * deep;
  }
  if constexpr (kRows > 1) take_rows<R, kEach, kRows / 2>(mine, from, row, end, deep, offset);
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
  const int64_t column = (chunk - line * w.per_line) * kEach, output = line * w.cols + column;
  const bool there = chunk < w.chunks;
  const char* const from = w.in + (there ? w.line(line) + column * static_cast<int64_t>(sizeof(X)) : 0);
  const int64_t begin = blockIdx.y * w.each, end = begin + w.each < w.count ? begin + w.each : w.count;
  typename R::template Mine<1> mine[kEach];
  each_below<kEach>([&](auto e) { mine[e].prepare(results); });
  constexpr int kRows = kEach == 1 ? 2 * kInFlight : kInFlight;
  if (there && w.row.dims == 1)
    take_rows<R, kEach, kRows>(mine, from, begin + y, end, deep, [&](int64_t row) { return row * w.row.stride[0]; });
  else if (there)
    take_rows<R, kEach, 2>(mine, from, begin + y, end, deep, w.row);
  Part part[kEach];
  each_below<kEach>([&](auto e) { part[e] = merged_down<R>(mine[e].part(), w.wide); });
  if (w.parts > 1) {
    each_below<kEach>([&](auto e) {
      if (there && y == 0) partial[blockIdx.y * w.outputs + output + e] = part[e];
    });
    if (!is_last_block(counters + blockIdx.x, w.parts)) return;
    each_below<kEach>([&](auto e) {
      Part all = R::none();
      for (int p = y; there && p < w.parts; p += deep)
        all = R::merged(all, R::from_other(partial + p * w.outputs + output + e));
      part[e] = merged_down<R>(all, w.wide);
    });
  }
  if (!there || y != 0) return;
  each_below<kEach>([&](auto e) { results.store(output + e, part[e]); });
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
