// cuDNN, opened when it is first asked for.
#include "cuda/cudnn.h"

#include <map>

#include <halfbridge/error.h>

#include "cuda/runtime.h"
#include "cuda/streams.h"

namespace hb::cuda {

const Library& cudnn() {
  static const auto* const library = new Library("cuDNN 9", {"libcudnn.so.9"}, "cudnn");
  return *library;
}
void fail_cudnn(cudnnStatus_t status, const char* call) {
  HB_CHECK(false, "[", current_function(), "] ", call, " failed with cuDNN's status ", static_cast<int>(status));
  __builtin_unreachable();
}
cudnnHandle_t cudnn_handle() {
  thread_local auto* const handles = new std::map<DeviceIndex, cudnnHandle_t>;  // cuDNN may end before the thread
  cudnnHandle_t& handle = (*handles)[current_device()];
  const Unrecorded guard;
  if (!handle) HB_CUDNN(cudnnCreate, &handle);
  HB_CUDNN(cudnnSetStream, handle, current_stream());
  return handle;
}

cudnnDataType_t cudnn_type(ScalarType dtype) {
  switch (dtype) {
    case kDouble:
      return CUDNN_DATA_DOUBLE;
    case kHalf:
      return CUDNN_DATA_HALF;
    case kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

}  // namespace hb::cuda
