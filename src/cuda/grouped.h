#pragma once
// Reductions: where their elements are, and how the threads of a block share them. The 256 threads of a block are
// groups: each group makes one result, its threads share what is reduced. Where neighbours in memory are reduced,
// neighbouring threads are in one group; else they are in neighbouring groups.

#include <algorithm>

#include <halfbridge/error.h>

#include "backend/reduce.h"
#include "cuda/walk.h"

namespace hb::cuda {

/// Places by their number, dimension 0 innermost.
struct Places {
  int dims = 1;
  Divider size[kMostDims];
  int64_t stride[kMostDims] = {};
#ifdef HB_DEVICE_CODE
  __device__ int64_t operator()(int64_t number) const {
    if (dims == 1) return number * stride[0];
    auto i = static_cast<uint32_t>(number);
    int64_t offset = 0;
    for (int d = 0; d < dims - 1; ++d) {
      const uint32_t rest = size[d](i);
      offset += (i - rest * size[d].divisor) * stride[d];
      i = rest;
    }
    return offset + i * stride[dims - 1];
  }
#endif
};
inline Places places(const char* name, const DimVector& sizes, const DimVector& strides, int64_t count) {
  HB_CHECK(sizes.size() <= kMostDims && (sizes.size() <= 1 || count < (int64_t{1} << 31)), "[", name,
           "] expected fewer than 2^31 elements in several dimensions on a CUDA device, got ", count);
  Places p;
  p.dims = std::max(1, static_cast<int>(sizes.size()));
  for (size_t d = 0; d < sizes.size(); ++d) {
    p.size[d] = Divider(p.dims > 1 ? static_cast<uint32_t>(sizes[d]) : 1u);
    p.stride[d] = strides[d];
  }
  return p;
}

/// How a launch is shared: `width` threads a group, `splits` blocks for what each group reduces.
struct Groups {
  int64_t outputs, count;
  int width = 1, splits = 1;
  bool along = true;  // neighbouring threads share a group
  int per_block() const { return kThreads / width; }
  unsigned blocks() const { return blocks_for(outputs, per_block()); }
};
inline Groups groups_for(int64_t outputs, int64_t count, bool along, bool may_split) {
  Groups g{outputs, count};
  g.along = along;
  const int most = along ? kThreads : 32;
  while (g.width < most && g.width * 4 < count &&
         (along ? g.width < 32 || outputs * g.width < 65536 : outputs * g.width < 65536))
    g.width *= 2;
  constexpr int64_t kPart = 16, kBusy = 262144;  // elements that a thread takes by itself; threads of a large GPU
  if (may_split && outputs * g.width < kBusy / 4 && count > g.width * kPart)
    g.splits = static_cast<int>(std::min<int64_t>(
        {1024, count / (g.width * kPart) + 1, (kBusy + outputs * g.width - 1) / (outputs * g.width)}));
  return g;
}
/// Whether neighbouring threads share a group: what is reduced lies closer together than the results do.
inline bool along_reduced(const ReduceLoop& l) {
  return l.kept.empty() || l.kept[0] == 1 || (l.reduced_in[0] <= l.kept_in[0] && !(l.count < 32 && l.kept[0] >= 16));
}

#ifdef HB_DEVICE_CODE
/// This thread's place: its output (or `outputs` and more, where there is none) and its part of the group.
struct Member {
  int64_t output;
  int rank, slot, stride;  // of the group's memory: thread k of it has slot + (k - rank) * stride
  __device__ explicit Member(const Groups& g, int64_t block) {
    const int t = static_cast<int>(threadIdx.x), groups = kThreads / g.width;
    rank = g.along ? t % g.width : t / groups;
    output = block * groups + (g.along ? t / g.width : t % groups);
    slot = t, stride = g.along ? 1 : groups;
  }
};
/// The group's first thread gets what the threads of the group have, merged. All threads of the block call it.
template <class W, class Merge>
__device__ inline W merge_group(W mine, const Groups& g, const Member& m, W* shared, const Merge& merge) {
  if (g.width == 1) return mine;
  __syncthreads();
  shared[m.slot] = mine;
  for (int half = g.width / 2; half > 0; half /= 2) {
    __syncthreads();
    if (m.rank < half) shared[m.slot] = merge(shared[m.slot], shared[m.slot + half * m.stride]);
  }
  return shared[m.slot];
}
#endif

}  // namespace hb::cuda
