#pragma once
// The byte that every function of a program's tensors tests at its front: whether anything at all stands before it.
// Above this file autocast (autocast/autocast.h) and what watches functions (core/function_watch.h) set it.

#include <atomic>
#include <cstdint>
#include <utility>

#include <halfbridge/macros.h>

namespace hb::front {

/// Of this thread: one bit per type of device whose autocast is on and not excluded, and kSeen.
extern thread_local constinit uint8_t active __attribute__((tls_model("initial-exec"), visibility("hidden")));
/// Somebody sees the functions that this thread calls; also its views, copies and factories.
inline constexpr uint8_t kWatched = 0x80, kObserved = 0x40, kSeen = kWatched | kObserved;

/// Of all threads; 0 as long as the CPU is the only device and nobody wants to see them all.
extern constinit std::atomic<uint8_t> unusual __attribute__((visibility("hidden")));
inline constexpr uint8_t kOtherDevices = 1, kAllWatched = 2;

class Excluded;
/// The innermost one of this thread.
extern thread_local constinit Excluded* excluded __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// Runs what is below it on the arguments as they are, and unseen.
class Excluded {
 public:
  Excluded() : previous_(std::exchange(active, uint8_t{0})), outer_(std::exchange(excluded, this)) {}
  Excluded(const Excluded&) = delete;
  Excluded& operator=(const Excluded&) = delete;
  ~Excluded() { active = previous_, excluded = outer_; }

 private:
  friend uint8_t& unexcluded();
  uint8_t previous_;
  Excluded* outer_;
};

/// The byte as it is outside of all Excluded.
inline uint8_t& unexcluded() {
  Excluded* outermost = excluded;
  while (outermost && outermost->outer_) outermost = outermost->outer_;
  return outermost ? outermost->previous_ : active;
}

}  // namespace hb::front
