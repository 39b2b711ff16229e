// How many elements have each value or lie in each bin. Blocks count in shared memory, if there is room.
#include "backend/sort.h"

#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

constexpr int64_t kMostShared = 4096;  // bins

/// Integers are counted by blocks in 32 bits.
template <class T>
using Local = std::conditional_t<std::is_same_v<T, int64_t>, unsigned, T>;
template <class T>
__device__ void add(T* to, T value) {
  if constexpr (std::is_same_v<T, int64_t>)
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
  else
    atomicAdd(to, value);
}

/// f(i, put) calls put(bin, amount) for what element i adds.
template <class T, class F>
__device__ void count_all(T* counts, int64_t bins, int64_t n, const F& f) {
  HB_DYNAMIC_SHARED(Local<T>, mine);
  if (bins > kMostShared) {
    HB_GRID_LOOP(i, n) f(i, [&](int64_t bin, T amount) { add(counts + bin, amount); });
    return;
  }
  for (int64_t b = threadIdx.x; b < bins; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  HB_GRID_LOOP(i, n) f(i, [&](int64_t bin, T amount) { atomicAdd(mine + bin, static_cast<Local<T>>(amount)); });
  __syncthreads();
  for (int64_t b = threadIdx.x; b < bins; b += blockDim.x)
    if (mine[b] != 0) add(counts + b, static_cast<T>(mine[b]));
}
/// So few blocks that what they add in the end takes little time.
unsigned counting_blocks(int64_t n) { return std::min(blocks_for(n, 8 * kThreads), 1024u); }
template <class T>
size_t shared_bytes(int64_t bins) {
  return bins > kMostShared ? 0 : static_cast<size_t>(bins) * sizeof(Local<T>);
}

template <class W, class T>
__global__ void count_values(T* counts, const int64_t* values, const W* weights, int64_t n, int64_t size,
                             Reporter report) {
  count_all(counts, size, n, [&](int64_t i, const auto& put) {
    if (!index_is_good(values[i], size, report)) return;
    if constexpr (std::is_same_v<T, int64_t>)
      put(values[i], 1);
    else
      put(values[i], static_cast<T>(weights[i]));
  });
}
void bincount(const Tensor& counts, const Tensor& values, const Tensor& weights) {
  const int64_t n = values.numel(), size = counts.numel();
  if (n == 0) return;
  const auto run = [&](auto count, auto weight) {
    using T = decltype(count);
    using W = decltype(weight);
    HB_LAUNCH((count_values<W, T>), counting_blocks(n), kThreads, shared_bytes<T>(size), current_stream(),
              static_cast<T*>(counts.impl().raw_data()), static_cast<const int64_t*>(values.impl().raw_data()),
              weights.defined() ? static_cast<const W*>(weights.impl().raw_data()) : nullptr, n, size,
              reporter("bincount"));
  };
  switch (counts.scalar_type()) {
    case kLong:
      return run(int64_t(), int64_t());
    case kFloat:
      return run(float(), float());
    case kDouble:
      return run(double(), double());
    default:
      HB_NOT_SUPPORTED("[bincount] is not supported for weights of dtype ", counts.scalar_type());
  }
}
HB_REGISTER_CUDA(bincount_kernel, bincount);

/// In the type of the values, in LibTorch's order: another would put a few of a million elsewhere.
template <class T, class C>
__global__ void count_between(int64_t* counts, const T* in, int64_t n, int64_t bins, C low, C high) {
  count_all(counts, bins, n, [&](int64_t i, const auto& put) {
    const C x = widen<C>(in[i]);
    if (!(x >= low && x <= high)) return;
    const auto bin = static_cast<int64_t>((x - low) * static_cast<C>(bins) / (high - low));
    put(bin < bins ? bin : bins - 1, 1);
  });
}
void histogram(const Tensor& counts, const Tensor& in, double low, double high) {
  const int64_t n = in.numel(), bins = counts.numel();
  if (n == 0) return;
  HB_FLOATING_SWITCH("histc", in.scalar_type(), [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    HB_LAUNCH((count_between<T, C>), counting_blocks(n), kThreads, shared_bytes<int64_t>(bins), current_stream(),
              static_cast<int64_t*>(counts.impl().raw_data()), static_cast<const T*>(in.impl().raw_data()), n, bins,
              static_cast<C>(low), static_cast<C>(high));
  });
}
HB_REGISTER_CUDA(histogram_kernel, histogram);

}  // namespace
}  // namespace hb::cuda
