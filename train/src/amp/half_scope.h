#pragma once
// Autocast for a part of a program.

#include <memory>
#include <optional>
#include <utility>

#include <halfbridge/autocast.h>

#include "autocast/level.h"

namespace hb::amp {

/// Turns autocast on with `dtype`, or off without one, under a level's lists and copies of weights if there is one.
/// Follows CUDA's list of classes on every device: it keeps more in float32 than the CPU's, which float16 needs and
/// which costs little.
class HalfScope {
 public:
  HalfScope(Device device, std::optional<ScalarType> dtype, std::shared_ptr<const hb::autocast::Level> level = nullptr)
      : device_(device.type()),
        list_(hb::autocast::get_op_list(device_)),
        level_(std::move(level)),
        guard_(device, dtype, dtype.has_value(), /*cache_enabled=*/true) {
    if (dtype) hb::autocast::set_op_list(device_, kCUDA);
  }
  ~HalfScope() { hb::autocast::set_op_list(device_, list_); }
  HalfScope(const HalfScope&) = delete;
  HalfScope& operator=(const HalfScope&) = delete;

 private:
  DeviceType device_, list_;
  hb::autocast::LevelScope level_;
  AutocastGuard guard_;
};

}  // namespace hb::amp
