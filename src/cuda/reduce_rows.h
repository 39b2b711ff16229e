#pragma once
// Reductions of neighbours in memory: whole tensors, last dimensions.

#include "cuda/reduce_parts.h"
#include "cuda/scratch.h"

namespace hb::cuda {

/// Each result is made of `runs` runs of n neighbours.
struct Rows {
  const char* in = nullptr;
  Places kept = {}, run = {};
  int64_t outputs = 0, n = 0, runs = 0;
  int64_t piece = 0, pieces = 1;  // of a run: so many elements, which a team of threads reads together
  int width = 1;                  // threads in a team
  int parts = 0;                  // blocks that share a result; 0: each team makes its own
  dim3 grid() const {
    if (parts == 0) return dim3(static_cast<unsigned>((outputs * width + kThreads - 1) / kThreads));
    return dim3(static_cast<unsigned>(outputs), static_cast<unsigned>(parts));
  }
};

/// Teams of warps, or parts of them, for short rows where there are many; else blocks.
inline void share_rows(Rows& r, int64_t each) {
  constexpr int64_t kBatch = int64_t{kThreads} * kInFlight;  // vectors that a block reads at once
  const int64_t count = r.n * r.runs;
  while (r.width < kWarp && r.width * each * 2 < r.n) r.width *= 2;
  r.piece = r.n;
  if (count <= kWarp * each * 32 && (r.outputs * r.width >= kBusyBlocks * 128 || count <= kWarp * each * 2)) return;
  const bool may_share = r.outputs <= kBusyBlocks / 2 && r.outputs <= kBlockCounters;
  const int64_t wanted = may_share ? (kBusyBlocks + r.outputs - 1) / r.outputs : 1;
  int64_t most;  // parts
  if (r.runs > 1 && r.n <= kWarp * each * 8) {
    const int64_t teams = kThreads / r.width;
    most = (r.runs + teams * 4 - 1) / (teams * 4);
  } else {
    r.width = kThreads;
    const int64_t batches = (r.n + kBatch * each - 1) / (kBatch * each);
    const int64_t pieces = std::min(batches, (wanted + r.runs - 1) / r.runs);
    r.piece = (batches + pieces - 1) / pieces * kBatch * each;
    r.pieces = (r.n + r.piece - 1) / r.piece;
    most = r.pieces * r.runs;
  }
  r.parts = static_cast<int>(std::min(wanted, most));
}

inline bool plan_rows(Rows& r, const ReduceLoop& l, int64_t size) {
  const int64_t each = 16 / size, n = l.reduced[0];
  if (l.reduced_in[0] != size || (n < each && n < l.count) || l.outputs > (int64_t{1} << 31) - 1) return false;
  DimVector runs, strides;
  for (size_t d = 1; d < l.reduced.size(); ++d) runs.push_back(l.reduced[d]), strides.push_back(l.reduced_in[d]);
  r.in = l.in, r.outputs = l.outputs, r.n = n, r.runs = l.count / n;
  r.kept = places("reduce", l.kept, l.kept_in, l.outputs);
  r.run = places("reduce", runs, strides, r.runs);
  share_rows(r, each);
  return true;
}
inline Rows contiguous_rows(const char* in, const Lines& l, int64_t size) {
  Rows r{in};
  r.outputs = l.outer, r.n = l.n, r.runs = 1;
  r.kept.stride[0] = l.n * size;
  share_rows(r, 16 / size);
  return r;
}

#ifdef HB_DEVICE_CODE
/// So many vectors, `width` apart, the first of which begins with element `index`. All are loaded at first, whatever
/// comes of them: of loads that depend on conditions, each would wait for the one before.
template <class R, int kVectors, class Mine, class Width>
__device__ inline void take_vectors(Mine& mine, const typename R::X* x, int64_t index, Width width,
                                    const typename R::Results& results) {
  constexpr int kEach = 16 / sizeof(typename R::X);
  typename R::template Loads<kEach> v[kVectors];
  each_below<kVectors>([&](auto k) { R::load(v[k], x + k * width * kEach, results); });
  mine.begin(v[0].template get<0>());
  each_below<kVectors>([&](auto k) {
    each_below<kEach>([&](auto e) {
      mine.template take<(k * kEach + e) % 4>(v[k].template get<e>(), index + k * width * kEach + e);
    });
  });
}

/// This thread's share of n neighbours, the first of which is element `index`: vectors, then what stands before and
/// after them.
template <class R, class Mine, class Width>
__device__ inline void take_run(Mine& mine, const typename R::X* x, int64_t n, int64_t index, int rank, Width width,
                                const typename R::Results& results) {
  using X = typename R::X;
  constexpr int kEach = 16 / sizeof(X);
  const int64_t to_aligned = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(x) % 16 / sizeof(X));
  const int64_t head = to_aligned < n ? to_aligned : n, vectors = (n - head) / kEach, edges = n - vectors * kEach;
  int64_t i = rank;
  const auto take = [&](auto many) {
    take_vectors<R, many>(mine, x + head + i * kEach, index + head + i * kEach, width, results);
    i += many * width;
  };
  static_assert(kInFlight == 4);
#pragma unroll 1
  while (i + 3 * width < vectors) take(std::integral_constant<int, 4>());
  if (i + width < vectors) take(std::integral_constant<int, 2>());
  if (i < vectors) take(std::integral_constant<int, 1>());
  for (int64_t edge = rank; edge < edges; edge += width) {
    const int64_t at = edge < head ? edge : edge + vectors * kEach;
    typename R::template Loads<1> v;
    R::load(v, x + at, results);
    mine.begin(v.template get<0>());
    mine.edge(v.template get<0>(), index + at);
  }
}

template <class R>
__global__ void __launch_bounds__(kThreads, R::kBlocks)
    reduce_rows(HB_ARGUMENT(Rows) w, HB_ARGUMENT(typename R::Results) results, typename R::Part* partial,
                int* counters) {
  using Part = typename R::Part;
  const int thread = static_cast<int>(threadIdx.x), team = thread / w.width, teams = kThreads / w.width;
  const bool alone = w.parts == 0;
  const int64_t output = alone ? int64_t{blockIdx.x} * teams + team : int64_t{blockIdx.x};
  const int64_t items = output < w.outputs ? w.runs * w.pieces : 0;
  const char* const from = w.in + (items > 0 ? w.kept(output) : 0);
  typename R::template Mine<4> mine;
  mine.prepare(results);
  for (int64_t item = alone ? 0 : int64_t{blockIdx.y} * teams + team; item < items;
       item += alone ? 1 : int64_t{w.parts} * teams) {
    const int64_t run = w.pieces == 1 ? item : item / w.pieces, first = (item - run * w.pieces) * w.piece;
    const auto* const x = reinterpret_cast<const typename R::X*>(from + w.run(run)) + first;
    const int64_t n = w.piece < w.n - first ? w.piece : w.n - first;
    if (w.width == kThreads)  // known when it is compiled, the loads share an address
      take_run<R>(mine, x, n, run * w.n + first, thread, std::integral_constant<int, kThreads>(), results);
    else
      take_run<R>(mine, x, n, run * w.n + first, thread % w.width, w.width, results);
  }
  if (alone) {
    const Part part = merged_in_warp<R>(mine.part(), w.width);
    if (items > 0 && thread % w.width == 0) results.store(output, part);
    return;
  }
  Part part = merged_in_block<R>(mine.part());
  if (w.parts > 1) {
    if (thread == 0) partial[output * w.parts + blockIdx.y] = part;
    if (!is_last_block(counters + output, w.parts)) return;
    part = R::none();
    for (int p = thread; p < w.parts; p += kThreads)
      part = R::merged(part, R::from_other(partial + output * w.parts + p));
    part = merged_in_block<R>(part);
  }
  if (thread == 0) results.store(output, part);
}

template <class R>
void launch_rows(const Rows& r, const typename R::Results& results) {
  const Scratch<typename R::Part> partial(r.parts > 1 ? r.parts * r.outputs : 0);
  HB_LAUNCH((reduce_rows<R>), r.grid(), kThreads, 0, current_stream(), r, results, partial.get(),
            r.parts > 1 ? block_counters(current_stream()) : nullptr);
}
#endif

}  // namespace hb::cuda
