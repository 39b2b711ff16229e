#pragma once
// cuSOLVER, and cuBLAS for its triangular solutions, opened when they are first asked for.

#ifdef HB_SOFTWARE_CUDA
#include "software_cuda/cusolver.h"
#else
#include <cublas_v2.h>
#include <cusolverDn.h>
#endif

#include "cuda/library.h"

namespace hb::cuda {

const Library& cusolver();
const Library& cublas();
/// The handles of this thread for the current device, whose calls go to the current stream.
cusolverDnHandle_t cusolver_handle();
cusolverDnParams_t cusolver_params();
cublasHandle_t cublas_handle();
[[noreturn]] void fail_solver(const char* library, int status, const char* call);

}  // namespace hb::cuda

#define HB_CUSOLVER(function, ...)                                                                                     \
  do {                                                                                                                 \
    const cusolverStatus_t status_ = HB_CUDA_SYMBOL(::hb::cuda::cusolver(), function)(__VA_ARGS__);                    \
    if (status_ != CUSOLVER_STATUS_SUCCESS) ::hb::cuda::fail_solver("cuSOLVER", static_cast<int>(status_), #function); \
  } while (0)
#define HB_CUBLAS(function, ...)                                                                                   \
  do {                                                                                                             \
    const cublasStatus_t status_ = HB_CUDA_SYMBOL(::hb::cuda::cublas(), function)(__VA_ARGS__);                    \
    if (status_ != CUBLAS_STATUS_SUCCESS) ::hb::cuda::fail_solver("cuBLAS", static_cast<int>(status_), #function); \
  } while (0)
