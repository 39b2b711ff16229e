#pragma once
// cuBLASLt, opened when it is first asked for.

#ifdef HB_SOFTWARE_CUDA
#include "software_cuda/cublas_lt.h"
#else
#include <cublasLt.h>
#endif

#include "cuda/library.h"

namespace hb::cuda {

const Library& cublas_lt();
/// The handle of the current device.
cublasLtHandle_t cublas_lt_handle();
[[noreturn]] void fail_cublas(cublasStatus_t status, const char* call);

}  // namespace hb::cuda

#define HB_CUBLAS_LT(function, ...)                                                                \
  do {                                                                                             \
    const cublasStatus_t status_ = HB_CUDA_SYMBOL(::hb::cuda::cublas_lt(), function)(__VA_ARGS__); \
    if (status_ != CUBLAS_STATUS_SUCCESS) ::hb::cuda::fail_cublas(status_, #function);             \
  } while (0)
