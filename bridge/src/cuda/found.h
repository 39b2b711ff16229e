#pragma once
// The back end behind c10::cuda and at::cuda.

#include <halfbridge/device.h>

namespace hb {
class CudaApi;
class DeviceBackend;
}  // namespace hb

namespace hb::bridge::cuda {

// These throw CUDAError "[what] No CUDA GPUs are available".
CudaApi& found(const char* what);
DeviceBackend& found_backend(const char* what);
/// The current device for -1; throws for a number that no device has.
DeviceIndex checked_device(const char* what, DeviceIndex device);

}  // namespace hb::bridge::cuda
