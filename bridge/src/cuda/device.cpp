#include <halfbridge/bridge/cuda/device.h>

#include <cstring>

#include <halfbridge/bridge/utility.h>

#include "core/cuda_api.h"
#include "core/device_backend.h"
#include "cuda/found.h"

namespace hb::bridge::cuda {

void no_device(const char* what) { throw CUDAError(hb::detail::str("[", what, "] No CUDA GPUs are available")); }

CudaApi& found(const char* what) {
  CudaApi* const api = find_cuda_api();
  if (!api) no_device(what);
  return *api;
}
DeviceBackend& found_backend(const char* what) {
  DeviceBackend* const backend = find_device_backend(kCUDA);
  if (!backend || backend->count() == 0) no_device(what);
  return *backend;
}
DeviceIndex checked_device(const char* what, DeviceIndex device) {
  const DeviceBackend& backend = found_backend(what);
  if (device < 0) return backend.current();
  HB_CHECK(device < backend.count(), "[", what, "] expected a device of 0 to ", int{backend.count()} - 1, ", got ",
           int{device});
  return device;
}

void check_code(int code, const char* file, int line) {
  if (code == 0) return;
  CudaApi* const api = find_cuda_api();
  const std::string text = api ? api->error_text(code) : hb::detail::str("error ", code);
  throw CUDAError(hb::detail::str("CUDA error: ", text, " (at ", file, ':', line, ')'));
}
void check_library_code(const char* library, int code, const char* file, int line) {
  if (code != 0) throw CUDAError(hb::detail::str(library, " error: status ", code, " (at ", file, ':', line, ')'));
}

DeviceIndex device_count_ensure_non_zero() { return found_backend("device_count_ensure_non_zero").count(); }
DeviceIndex current_device() { return found_backend("current_device").current(); }
void set_device(DeviceIndex device, bool /*force*/) {
  HB_CHECK(device >= 0, "[set_device] expected a device of at least 0, got ", int{device});
  found_backend("set_device").set_current(checked_device("set_device", device));
}
void device_synchronize() {
  DeviceBackend& backend = found_backend("device_synchronize");
  backend.synchronize(backend.current());
}
DeviceIndex ExchangeDevice(DeviceIndex device) {
  if (device < 0) return -1;
  DeviceBackend& backend = found_backend("ExchangeDevice");
  const DeviceIndex before = backend.current();
  if (before != device) backend.set_current(checked_device("ExchangeDevice", device));
  return before;
}

cudaError_t GetDeviceCount(int* count) {
  *count = device_count();
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t GetDevice(DeviceIndex* device) {
  const bool there = is_available();
  *device = there ? find_device_backend(kCUDA)->current() : DeviceIndex{-1};
  return there ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t SetDevice(DeviceIndex device, bool /*force*/) {
  if (!is_available()) return cudaErrorNoDevice;
  if (device < 0 || device >= device_count()) return static_cast<cudaError_t>(101);  // cudaErrorInvalidDevice
  find_device_backend(kCUDA)->set_current(device);
  return cudaSuccess;
}
bool hasPrimaryContext(DeviceIndex device) { return device >= 0 && device < device_count(); }
std::optional<DeviceIndex> getDeviceIndexWithPrimaryContext() {
  return is_available() ? std::optional(current_device()) : std::nullopt;
}

int warp_size() { return found("warp_size").properties(current_device()).warp_size; }
bool canDeviceAccessPeer(DeviceIndex device, DeviceIndex peer) {
  return found("canDeviceAccessPeer")
      .can_access_peer(checked_device("canDeviceAccessPeer", device), checked_device("canDeviceAccessPeer", peer));
}

namespace detail {
bool device_record(const char* what, DeviceIndex device, void* record, size_t bytes, DeviceFields& fields) {
  const CudaProperties& p = found(what).properties(checked_device(what, device));
  if (p.record && p.record_bytes == bytes) {
    std::memcpy(record, p.record, bytes);
    return true;
  }
  fields = {p.name.c_str(),
            p.total_memory,
            p.shared_memory_per_block,
            p.shared_memory_per_block_optin,
            p.shared_memory_per_multiprocessor,
            p.major,
            p.minor,
            p.multiprocessors,
            p.warp_size,
            p.registers_per_block,
            p.max_threads_per_block,
            p.max_threads_per_multiprocessor,
            p.l2_cache_bytes,
            {},
            {}};
  for (int i = 0; i < 3; ++i) fields.max_threads[i] = p.max_threads[i], fields.max_grid[i] = p.max_grid[i];
  return false;
}
}  // namespace detail

}  // namespace hb::bridge::cuda

namespace hb::bridge {
inline namespace api {
Device exchange_device(Device device) {
  DeviceBackend* const backend = device.is_cpu() ? nullptr : find_device_backend(device.type());
  if (!backend || !device.has_index()) return device;
  const Device before(device.type(), backend->current());
  if (before != device) backend->set_current(device.index());
  return before;
}
}  // namespace api
}  // namespace hb::bridge
