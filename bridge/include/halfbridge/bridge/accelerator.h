#pragma once
// <ATen/DeviceAccelerator.h>: the kind of device beside the CPU that a program computes on; here CUDA.

#include <optional>

#include <halfbridge/bridge/context.h>
#include <halfbridge/bridge/cuda/device.h>
#include <halfbridge/bridge/cuda/stream.h>
#include <halfbridge/error.h>
#include <halfbridge/stream.h>

namespace hb::bridge {
inline namespace api {
namespace accelerator {

/// CUDA where there is a device, else none, or an error if `checked`.
inline std::optional<DeviceType> getAccelerator(bool checked = false) {
  if (cuda::is_available()) return DeviceType::CUDA;
  HB_CHECK(!checked, "Cannot access accelerator device when none is available.");
  return std::nullopt;
}
inline bool isAccelerator(DeviceType type) {
  switch (type) {
    case DeviceType::CUDA:
    case DeviceType::HIP:
    case DeviceType::MPS:
    case DeviceType::XPU:
    case DeviceType::MTIA:
    case DeviceType::HPU:
    case DeviceType::PrivateUse1:
      return true;
    default:
      return false;
  }
}
/// 0 without an accelerator; the functions below throw then.
inline DeviceIndex deviceCount() { return cuda::device_count(); }
inline DeviceIndex getDeviceIndex() { return getAccelerator(true), cuda::current_device(); }
inline void setDeviceIndex(DeviceIndex index) { getAccelerator(true), cuda::set_device(index); }
/// Sets the current device and gives the one before.
inline DeviceIndex exchangeDevice(DeviceIndex index) {
  const DeviceIndex before = getDeviceIndex();
  cuda::set_device(index);
  return before;
}
/// The same; nothing for a negative one, which gives -1.
inline DeviceIndex maybeExchangeDevice(DeviceIndex index) {
  getAccelerator(true);
  return index < 0 ? DeviceIndex(-1) : exchangeDevice(index);
}
inline Stream getCurrentStream(DeviceIndex index) { return getAccelerator(true), cuda::getCurrentCUDAStream(index); }
inline void setCurrentStream(Stream stream) {
  getAccelerator(true), cuda::setCurrentCUDAStream(cuda::CUDAStream(stream));
}
/// Waits for all work of a device.
inline void synchronizeDevice(DeviceIndex index) { getAccelerator(true), cuda::synchronize(index); }

}  // namespace accelerator
using accelerator::getAccelerator;
using accelerator::isAccelerator;
}  // namespace api
}  // namespace hb::bridge
