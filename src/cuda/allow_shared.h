#pragma once

#include <atomic>

#include "cuda/launch.h"
#ifdef HB_SOFTWARE_CUDA
#include "software_cuda/tensor_core.h"
#endif

namespace hb::cuda {

/// Launches with more than 48 KiB of shared memory, which a kernel has to be allowed once on each device.
template <auto kKernel>
void allow_shared(size_t bytes) {
#ifdef HB_SOFTWARE_CUDA
  ::software_cuda::allow_shared(bytes);
#else
  static std::atomic<uint64_t> allowed{0};  // a bit for each device
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  const uint64_t mine = device < 64 ? uint64_t{1} << device : 0;
  if (allowed.load(std::memory_order_relaxed) & mine) return;
  check(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "cudaFuncSetAttribute");
  allowed.fetch_or(mine, std::memory_order_relaxed);
#endif
}

}  // namespace hb::cuda
