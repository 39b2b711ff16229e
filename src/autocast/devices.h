#pragma once

#include <halfbridge/device.h>

namespace hb::autocast {

constexpr int kDeviceSlots = 4;
/// Number of a device type that can autocast; -1 for one that cannot.
int slot_of(DeviceType type);

}  // namespace hb::autocast
