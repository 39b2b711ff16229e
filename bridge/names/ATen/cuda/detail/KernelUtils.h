#pragma once
// Loops over n elements by all threads of a launch.
#include <cstdint>
#include <limits>

#include <c10/util/Exception.h>

namespace at::cuda::detail {

constexpr int CUDA_NUM_THREADS = 1024;
/// How many blocks of that many threads hold n threads.
inline int GET_BLOCKS(const int64_t n, const int64_t max_threads_per_block = CUDA_NUM_THREADS) {
  TORCH_CHECK(n > 0, "[GET_BLOCKS] expected at least one element, got ", n);
  const int64_t blocks = (n - 1) / max_threads_per_block + 1;
  TORCH_CHECK(blocks <= std::numeric_limits<int>::max(), "[GET_BLOCKS] too many blocks for one launch: ", blocks);
  return static_cast<int>(blocks);
}

}  // namespace at::cuda::detail

// The count is of 64 bits, so that it does not pass the end of its type in the last step.
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                                                     \
  for (int64_t i##_at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, i##_step = int64_t{blockDim.x} * gridDim.x; \
       i##_at < (n); i##_at += i##_step)                                                                            \
    if (const index_type i = static_cast<index_type>(i##_at); true)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
