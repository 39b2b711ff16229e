// Runs of equal neighbours: warps count where runs begin in their parts of a line, then put what they found behind what
// the parts before them have.
#include "backend/distinct.h"

#include "core/device_backend.h"
#include "cuda/cub.h"
#include "cuda/kernel_file.h"
#include "formulas/compared.h"

namespace hb::cuda {
namespace {

constexpr int64_t kPart = 1024;  // elements of a warp

template <class T>
__device__ bool differ(T a, T b) {
  if constexpr (is_half_v<T>)
    return static_cast<float>(a) != static_cast<float>(b);
  else
    return a != b;
}

/// Calls f(i, element i, whether it begins a run, the lanes that begin one) for the elements of this warp's part.
template <class T, class F>
__device__ void each_of_part(const T* in, int64_t part, int64_t n, const F& f) {
  constexpr int kLoads = 8;
  const int64_t first = part * kPart + threadIdx.x % kWarp;
  for (int64_t k = 0; k < kPart; k += kLoads * kWarp) {
    T own[kLoads], before[kLoads];
#pragma unroll
    for (int e = 0; e < kLoads; ++e) {
      const int64_t i = first + k + e * kWarp;
      own[e] = i < n ? in[i] : T{};
      before[e] = i < n && i > 0 ? in[i - 1] : T{};
    }
#pragma unroll
    for (int e = 0; e < kLoads; ++e) {
      const int64_t i = first + k + e * kWarp;
      const bool begins = i < n && (i == 0 || differ(own[e], before[e]));
      f(i, own[e], begins, __ballot_sync(kFullWarp, begins));
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads, 4) count_runs(int64_t* counts, const T* in, int64_t n, int64_t parts) {
  const int64_t part = grid_thread() / kWarp;
  if (part >= parts) return;
  int count = 0;
  each_of_part(in, part, n, [&](int64_t, T, bool, unsigned begin) { count += __popc(begin); });
  if (threadIdx.x % kWarp == 0) counts[part] = count;
}

/// ends: how many runs begin up to each part's end. firsts: where each run begins.
template <class T>
__global__ void __launch_bounds__(kThreads, sizeof(T) == 8 ? 3 : 4)
    put_runs(T* values, int64_t* inverse, int64_t* firsts, const int64_t* ends, const T* in, int64_t n, int64_t parts) {
  const int64_t part = grid_thread() / kWarp;
  if (part >= parts) return;
  const unsigned before = (1u << threadIdx.x % kWarp) - 1;
  int64_t runs = part > 0 ? ends[part - 1] : 0;
  each_of_part(in, part, n, [&](int64_t i, T own, bool begins, unsigned begin) {
    const int64_t run = runs + __popc(begin & before) + (begins ? 1 : 0) - 1;
    if (begins) {
      values[run] = own;
      if (firsts) firsts[run] = i;
    }
    if (inverse && i < n) inverse[i] = run;
    runs += __popc(begin);
  });
}
__global__ void lengths(int64_t* counts, const int64_t* firsts, int64_t runs, int64_t n) {
  HB_GRID_LOOP(r, runs) counts[r] = (r + 1 < runs ? firsts[r + 1] : n) - firsts[r];
}

int64_t distinct(const Tensor& values, const Tensor& inverse, const Tensor& counts, const Tensor& in) {
  const int64_t n = in.numel(), parts = (n + kPart - 1) / kPart;
  if (n == 0) return 0;
  const auto places = [](const Tensor& t) {
    return t.defined() ? static_cast<int64_t*>(t.impl().visible_data()) : nullptr;
  };
  const Scratch<int64_t> ends(parts), firsts(counts.defined() ? n : 0);
  const auto blocks = static_cast<unsigned>((parts * kWarp + kThreads - 1) / kThreads);
  int64_t runs = 0;
  const auto run = [&](auto type) {
    using T = decltype(type);
    const T* const x = static_cast<const T*>(in.impl().visible_data());
    HB_LAUNCH(count_runs<T>, blocks, kThreads, 0, current_stream(), ends.get(), x, n, parts);
    HB_CUB(cub::DeviceScan::InclusiveSum, static_cast<const int64_t*>(ends.get()), ends.get(), parts);
    HB_LAUNCH(put_runs<T>, blocks, kThreads, 0, current_stream(), static_cast<T*>(values.impl().visible_data()),
              places(inverse), firsts.get(), static_cast<const int64_t*>(ends.get()), x, n, parts);
    copy_memory(&runs, kCPU, ends.get() + parts - 1, in.device(), sizeof runs);
    if (counts.defined())
      HB_LAUNCH(lengths, blocks_for(runs), kThreads, 0, current_stream(), places(counts), firsts.get(), runs, n);
  };
  switch (moved_type(in.scalar_type())) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    run(T());            \
    return runs;
    HB_FORALL_REAL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[unique] is not supported for dtype ", in.scalar_type());
  }
}
HB_REGISTER_CUDA(distinct_kernel, distinct);

}  // namespace
}  // namespace hb::cuda
