#pragma once
// cuDNN, opened when it is first asked for.

#ifdef HB_SOFTWARE_CUDA
#include "software_cuda/cudnn_graph.h"
#include "software_cuda/cudnn_rnn.h"
#else
#include <cudnn.h>
#endif

#include <halfbridge/dtype.h>

#include "cuda/library.h"

namespace hb::cuda {

const Library& cudnn();
/// The handle of this thread for the current device, whose calls go to the current stream.
cudnnHandle_t cudnn_handle();
cudnnDataType_t cudnn_type(ScalarType dtype);
[[noreturn]] void fail_cudnn(cudnnStatus_t status, const char* call);

}  // namespace hb::cuda

#define HB_CUDNN(function, ...)                                                               \
  do {                                                                                        \
    const cudnnStatus_t status_ = HB_CUDA_SYMBOL(::hb::cuda::cudnn(), function)(__VA_ARGS__); \
    if (status_ != CUDNN_STATUS_SUCCESS) ::hb::cuda::fail_cudnn(status_, #function);          \
  } while (0)
