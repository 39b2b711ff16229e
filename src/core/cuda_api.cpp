#include "core/cuda_api.h"

#include <halfbridge/error.h>

#include "core/cuda_settings.h"
#include "core/device_backend.h"

namespace hb {
namespace {
constinit CudaApi* registered = nullptr;
}  // namespace

CudaSettings& cuda_settings() {
  static constinit CudaSettings settings;
  return settings;
}

CudaGraphApi::~CudaGraphApi() = default;
CudaApi::~CudaApi() = default;

void register_cuda_api(CudaApi* api) { registered = api; }

CudaApi* find_cuda_api() {
  const DeviceBackend* const backend = find_device_backend(kCUDA);
  return backend && backend->count() > 0 ? registered : nullptr;
}

CudaApi& cuda_api(const char* what) {
  CudaApi* const api = find_cuda_api();
  HB_CHECK(api, "[", what, "] No CUDA GPUs are available");
  return *api;
}

}  // namespace hb
