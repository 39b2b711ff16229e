#pragma once
// Autocast for a part of a program.

#include <optional>

#include <halfbridge/autocast.h>

namespace hb::amp {

/// Turns autocast on with `dtype`, or off without one. Follows CUDA's list of classes on every device: it keeps more in
/// float32 than the CPU's, which float16 needs and which costs little.
class HalfScope {
 public:
  HalfScope(Device device, std::optional<ScalarType> dtype)
      : device_(device.type()), list_(hb::autocast::get_op_list(device_)), guard_(device, dtype, dtype.has_value()) {
    if (dtype) hb::autocast::set_op_list(device_, kCUDA);
  }
  ~HalfScope() { hb::autocast::set_op_list(device_, list_); }
  HalfScope(const HalfScope&) = delete;
  HalfScope& operator=(const HalfScope&) = delete;

 private:
  DeviceType device_, list_;
  AutocastGuard guard_;
};

}  // namespace hb::amp
