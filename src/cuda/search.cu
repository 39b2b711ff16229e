// Where values would stand in sorted lines.
#include "cuda/several.h"
#include "cuda/sort_key.h"

namespace hb::cuda {
namespace {

constexpr int64_t kStaged = 256;  // values of a line that blocks keep

/// How many of n ascending keys come before `key`, or, if `right`, are not beyond it. All take the same steps.
template <class Key, class At>
__device__ int64_t place_of(Key key, int64_t n, bool right, const At& at) {
  const auto is_before = [&](Key other) { return right ? other <= key : other < key; };
  int64_t low = 0;
  while (n > 1) {
    const int64_t half = n / 2;
    if (is_before(at(low + half - 1))) low += half;
    n -= half;
  }
  return n == 1 && is_before(at(low)) ? low + 1 : low;
}

template <class T>
__global__ void __launch_bounds__(kThreads) search(void* out, const T* sorted, const T* in, int64_t total, int64_t m,
                                                   int64_t n, bool one_line, bool right, bool narrow) {
  using Key = SortKey<T>;
  HB_SHARED(Key, kept, kStaged);
  const auto key = [](T value) { return static_cast<Key>(key_of(value)); };
  const bool staged = one_line && n <= kStaged;
  if (staged) {
    if (threadIdx.x < n) kept[threadIdx.x] = key(sorted[threadIdx.x]);
    __syncthreads();
  }
  const Several s(total);
  for (int64_t first = s.first; first < total; first += s.round) {
    T value[kSeveral];
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) value[e] = first + e * s.step < total ? in[first + e * s.step] : T{};
#pragma unroll
    for (int e = 0; e < kSeveral; ++e) {
      const int64_t i = first + e * s.step;
      if (i >= total) break;
      const T* const line = one_line ? sorted : sorted + i / m * n;
      const int64_t place = staged ? place_of(key(value[e]), n, right, [&](int64_t k) { return kept[k]; })
                                   : place_of(key(value[e]), n, right, [&](int64_t k) { return key(line[k]); });
      if (narrow)
        static_cast<int32_t*>(out)[i] = static_cast<int32_t>(place);
      else
        static_cast<int64_t*>(out)[i] = place;
    }
  }
}
void searchsorted(const Tensor& out, const Tensor& sorted, const Tensor& in, int64_t outer, bool right) {
  const int64_t total = in.numel();
  if (total == 0) return;
  const int64_t n = sorted.dim() ? sorted.size(-1) : 1;
  with_ordered("searchsorted", in.scalar_type(), [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(search<T>, blocks_for_several(total), kThreads, 0, current_stream(), out.impl().raw_data(),
              static_cast<const T*>(sorted.impl().raw_data()), static_cast<const T*>(in.impl().raw_data()), total,
              total / outer, n, sorted.numel() == n, right, out.scalar_type() == kInt);
  });
}
HB_REGISTER_CUDA(searchsorted_kernel, searchsorted);

}  // namespace
}  // namespace hb::cuda
