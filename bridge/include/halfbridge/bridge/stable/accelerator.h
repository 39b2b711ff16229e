#pragma once
// The current device and its stream as torch::stable::accelerator has them: CUDA's, which throw where there is none.

#include <cstdint>

#include <halfbridge/bridge/cuda/device.h>
#include <halfbridge/bridge/cuda/stream.h>
#include <halfbridge/bridge/stable/tensor.h>
#include <halfbridge/bridge/utility.h>

namespace hb::bridge::stable::accelerator {

using stable::DeviceIndex;
using StreamId = int64_t;

class DeviceGuard {
 public:
  explicit DeviceGuard(DeviceIndex index) : guard_(hb::Device(DeviceType::CUDA, static_cast<hb::DeviceIndex>(index))) {}
  void set_index(DeviceIndex index) { guard_.set_index(static_cast<hb::DeviceIndex>(index)); }

 private:
  bridge::DeviceGuard guard_;
};

class Stream {
 public:
  explicit Stream(const cuda::CUDAStream& stream) : id_(stream.id()) {}
  StreamId id() const { return id_; }

 private:
  StreamId id_;
};
inline Stream getCurrentStream(DeviceIndex device) {
  return Stream(cuda::getCurrentCUDAStream(static_cast<hb::DeviceIndex>(device)));
}
inline DeviceIndex getCurrentDeviceIndex() { return cuda::current_device(); }

}  // namespace hb::bridge::stable::accelerator
