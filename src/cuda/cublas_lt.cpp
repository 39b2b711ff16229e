#include "cuda/cublas_lt.h"

#include <map>
#include <mutex>

#include <halfbridge/error.h>

#include "cuda/streams.h"

namespace hb::cuda {

const Library& cublas_lt() {
  static const auto* const library = new Library("cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12"}, "cublas");
  return *library;
}
void fail_cublas(cublasStatus_t status, const char* call) {
  HB_CHECK(false, "[", current_function(), "] ", call, " failed with cuBLAS's status ", static_cast<int>(status));
  __builtin_unreachable();
}
cublasLtHandle_t cublas_lt_handle() {
  static std::mutex mutex;
  static auto& handles = *new std::map<DeviceIndex, cublasLtHandle_t>;
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = handles[current_device()];
  const Unrecorded guard;
  if (!handle) HB_CUBLAS_LT(cublasLtCreate, &handle);
  return handle;
}

}  // namespace hb::cuda
