#include "core/device_backend.h"

#include <array>
#include <cstring>
#include <vector>

#include <halfbridge/error.h>
#include <halfbridge/storage.h>

#include "core/allocator.h"
#include "core/function_front.h"
#include "core/load_cuda.h"
#include "core/meta_device.h"
#include "core/recorder.h"

namespace hb {

namespace detail {

constinit bool other_devices = false;

namespace {
thread_local constinit DeviceType default_type = kCPU;
thread_local constinit DeviceIndex default_index = -1;
}  // namespace

Device device_for(const TensorOptions& options) {
  if (HB_LIKELY(!other_devices) || options.has_device()) return options.device();
  return {default_type, default_index};
}

// A number on the CPU may stand beside tensors of any device.
void OneDevice::see_defined(const Tensor& t) {
  const Device& device = t.impl().device();
  if (!device_ || *device_ == device) {
    if (!(device.is_cpu() && t.dim() == 0)) device_ = device;
    return;
  }
  if (device.is_cpu() && t.dim() == 0) return;
  // The device that is not the host stands first.
  if (device_->is_cpu()) fail_two_devices(function_, device, *device_);
  fail_two_devices(function_, *device_, device);
}

void fail_two_devices(const char* function, const Device& a, const Device& b) {
  HB_CHECK(false, "[", function, "] Expected all tensors to be on the same device, but found at least two devices, ", a,
           " and ", b, "!");
  __builtin_unreachable();
}

}  // namespace detail

namespace {
constinit std::array<DeviceBackend*, COMPILE_TIME_MAX_DEVICE_TYPES> backends{};
}  // namespace

DeviceBackend::~DeviceBackend() = default;

void register_device_backend(DeviceType type, DeviceBackend* backend) {
  HB_CHECK(isValidDeviceType(type) && type != kCPU, "[register_device_backend] expected a device other than the CPU");
  DeviceBackend*& slot = backends[static_cast<size_t>(type)];
  HB_CHECK(!slot || slot == backend, "[register_device_backend] ", DeviceTypeName(type), " has a back end already");
  slot = backend;
  detail::other_devices = true;
  front::unusual |= front::kOtherDevices;
}

DeviceBackend* find_device_backend(DeviceType type) {
  if (!isValidDeviceType(type)) return nullptr;
  DeviceBackend* const backend = backends[static_cast<size_t>(type)];
  if (HB_LIKELY(backend != nullptr)) return backend;
  if (type == kCUDA) return open_cuda();
  return type == kMeta ? meta_device() : nullptr;
}

DeviceBackend& device_backend(const char* name, const Device& device) {
  DeviceBackend* const backend = find_device_backend(device.type());
  HB_CHECK(backend || device.type() != kCUDA, "[", name, "] device ", device, " is not available: ", cuda_absence());
  HB_CHECK(backend, "[", name, "] device ", device, " is not available: this build of Halfbridge has no ",
           DeviceTypeName(device.type()), " support");
  return *backend;
}

Device indexed_device(const char* name, const Device& device) {
  if (device.is_cpu()) return kCPU;
  if (device.is_meta()) return device_backend(name, device), kMeta;  // there is one, and no number says so
  const DeviceBackend& backend = device_backend(name, device);
  const DeviceIndex index = device.has_index() ? device.index() : backend.current();
  HB_CHECK(index < backend.count(), "[", name, "] expected a device of 0 to ", int{backend.count()} - 1, ", got ",
           device);
  return {device.type(), index};
}

void set_default_device(const Device& device) {
  const Device at = indexed_device("set_default_device", device);
  detail::default_type = at.type();
  detail::default_index = at.index();
}

void copy_memory(void* to, const Device& to_device, const void* from, const Device& from_device, size_t bytes,
                 bool non_blocking) {
  if (bytes == 0) return;
  if (HB_UNLIKELY(capture::any_recording())) capture::tell_refusal("copy_", "copies memory past the kernels");
  if (to_device.is_cpu() && from_device.is_cpu()) {
    std::memcpy(to, from, bytes);
    return;
  }
  if (to_device.is_cpu() || to_device.type() == from_device.type())
    return device_backend("copy_", from_device).copy(to, to_device, from, from_device, bytes, non_blocking);
  if (from_device.is_cpu())
    return device_backend("copy_", to_device).copy(to, to_device, from, from_device, bytes, non_blocking);
  std::vector<char> staged(bytes);  // two kinds of devices that know nothing of each other
  device_backend("copy_", from_device).copy(staged.data(), kCPU, from, from_device, bytes, false);
  device_backend("copy_", to_device).copy(to, to_device, staged.data(), kCPU, bytes, false);
}

size_t memory_in_use(Device device) {
  if (device.is_cpu()) return detail::host_memory_in_use();
  const Device at = indexed_device("memory_in_use", device);
  return device_backend("memory_in_use", at).memory_in_use(at.index());
}
size_t peak_memory(Device device) {
  if (device.is_cpu()) return detail::host_peak_memory();
  const Device at = indexed_device("peak_memory", device);
  return device_backend("peak_memory", at).peak_memory(at.index());
}
void reset_peak_memory(Device device) {
  if (device.is_cpu()) return detail::reset_host_peak_memory();
  const Device at = indexed_device("reset_peak_memory", device);
  device_backend("reset_peak_memory", at).reset_peak_memory(at.index());
}

}  // namespace hb
