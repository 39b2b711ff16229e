#pragma once
// What LibTorch's headers for CUDA declare.

#include <c10/names.h>
#include <halfbridge/bridge/cuda/allocator.h>

namespace c10 {
using hb::bridge::CUDAError;
namespace cuda {
using namespace hb::bridge::cuda;
namespace CUDACachingAllocator {
using namespace hb::bridge::cuda::caching_allocator;
}
}  // namespace cuda
namespace CachingDeviceAllocator {
using namespace hb::memory_stats;
}
}  // namespace c10

namespace at::cuda {
using namespace hb::bridge::cuda;
namespace detail {
using hb::bridge::cuda::createCUDAGenerator;
using hb::bridge::cuda::getDefaultCUDAGenerator;
}  // namespace detail
}  // namespace at::cuda

#define C10_CUDA_CHECK(EXPR) HB_CUDA_CHECK(EXPR)
#define C10_CUDA_CHECK_WARN(EXPR)                                                                \
  do {                                                                                           \
    if (const int hb_code = static_cast<int>(EXPR)) TORCH_WARN("CUDA warning: error ", hb_code); \
  } while (false)
#define C10_CUDA_ERROR_HANDLED(EXPR) EXPR
#define C10_CUDA_IGNORE_ERROR(EXPR) static_cast<void>(EXPR)
#define C10_CUDA_CLEAR_ERROR() static_cast<void>(cudaGetLastError())
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define AT_CUDA_CHECK(EXPR) C10_CUDA_CHECK(EXPR)
#define TORCH_CUDABLAS_CHECK(EXPR) HB_CUDA_LIBRARY_CHECK("cuBLAS", EXPR)
#define TORCH_CUDASPARSE_CHECK(EXPR) HB_CUDA_LIBRARY_CHECK("cuSPARSE", EXPR)
#define TORCH_CUSOLVER_CHECK(EXPR) HB_CUDA_LIBRARY_CHECK("cuSOLVER", EXPR)
#define AT_CUDNN_CHECK(EXPR, ...) HB_CUDA_LIBRARY_CHECK("cuDNN", EXPR)
#define AT_CUDA_DRIVER_CHECK(EXPR) HB_CUDA_CHECK(EXPR)
