#pragma once
// What runs later as it would now: the second call of a checkpointed function.

#include "autocast/autocast.h"
#include "autocast/devices.h"
#include "autocast/level.h"

namespace hb::autocast {

/// The autocast state of a thread.
struct Snapshot {
  uint8_t active = 0;
  ScalarType dtypes[kDeviceSlots];
  DeviceType lists[kDeviceSlots];
  bool cache_enabled = true;
  std::shared_ptr<const Level> level;

  static Snapshot take();
  void apply() const;
};

/// Puts a state in force until the end of the scope, as a guard would.
class Restored {
 public:
  explicit Restored(const Snapshot& state) : before_(Snapshot::take()) {
    state.apply();
    increment_nesting();
  }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  ~Restored() {
    if (decrement_nesting() == 0) clear_cache();
    before_.apply();
  }

 private:
  Snapshot before_;
};

}  // namespace hb::autocast
