#include <halfbridge/bridge/cuda/device.h>

namespace hb::bridge::cuda {

void no_device(const char* what) {
  throw CUDAError(
      hb::detail::str("[", what, "] No CUDA GPUs are available: this build of Halfbridge computes on the CPU"));
}

void check_code(int code, const char* file, int line) {
  if (code != 0) throw CUDAError(hb::detail::str("CUDA error ", code, " at ", file, ':', line));
}

}  // namespace hb::bridge::cuda
