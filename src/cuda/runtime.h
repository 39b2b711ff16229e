#pragma once
// CUDA's runtime, or in tests the software device's (unit_tests/software_cuda), and its errors.

#ifdef HB_SOFTWARE_CUDA
#include "software_cuda/queue.h"
#else
#include <cuda_runtime.h>
#endif

namespace hb::cuda {

/// Throws "[what] CUDA error: …".
[[noreturn]] void fail(cudaError_t code, const char* what);
inline void check(cudaError_t code, const char* what) {
  if (__builtin_expect(code != cudaSuccess, 0)) fail(code, what);
}

/// The function whose kernel runs on this thread, for messages.
const char* current_function();

}  // namespace hb::cuda
