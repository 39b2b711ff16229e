#pragma once
// The last block of several to end: it puts together what the others found, within the same launch.

#include "cuda/runtime.h"
#ifdef HB_DEVICE_CODE
#include "cuda/launch.h"
#endif

namespace hb::cuda {

constexpr int kBlockCounters = 1024;
/// Counters for the launches of a stream, or of a graph, which follow each other: zero between them.
int* block_counters(cudaStream_t stream);

#ifdef HB_DEVICE_CODE
/// Whether all of `blocks` blocks were here, this one last; then it sees what they wrote (read by `written_by_others`).
/// Called by all threads of a block.
__device__ inline bool is_last_block(int* counter, int blocks) {
  if (blocks == 1) {
    __syncthreads();
    return true;
  }
  HB_SHARED(int, last, 1);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    *last = atomicAdd(counter, 1) + 1 == blocks;
    if (*last) *counter = 0;
  }
  __syncthreads();
  if (*last) __threadfence();
  return *last;
}
/// Past the cache of this multiprocessor.
template <class T>
__device__ inline T written_by_others(const T* at) {
  return *static_cast<const volatile T*>(at);
}
#endif

}  // namespace hb::cuda
