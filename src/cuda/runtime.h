#pragma once
// CUDA's runtime, or in tests the software device's (unit_tests/software_cuda), and its errors.

#ifdef HB_SOFTWARE_CUDA
#include "software_cuda/queue.h"
#else
#include <cuda_runtime.h>
#endif

/// Defined where device code is compiled.
#if defined(__CUDACC__) || defined(HB_SOFTWARE_CUDA)
#define HB_DEVICE_CODE 1
#endif

namespace hb::cuda {

/// Throws "[what] CUDA error: …".
[[noreturn]] void fail(cudaError_t code, const char* what);
inline void check(cudaError_t code, const char* what) {
  if (__builtin_expect(code != cudaSuccess, 0)) fail(code, what);
}

/// While it lives, this thread may call what a recording of a stream forbids (cudaMalloc, making a library's handle,
/// …); that is no part of what is recorded.
class Unrecorded {
 public:
  Unrecorded() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~Unrecorded() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// The function whose kernel runs on this thread, for messages.
const char* current_function();
/// Waits for the kernel where every call is to (CUDA_LAUNCH_BLOCKING=1).
void after_launch(const char* name);

}  // namespace hb::cuda
