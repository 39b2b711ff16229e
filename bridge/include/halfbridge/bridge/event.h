#pragma once

#include <halfbridge/bridge/cuda/event.h>
#include <halfbridge/stream.h>

namespace hb::bridge {
inline namespace api {

/// c10::Event: a mark in the work of a stream. It is made when it is recorded first; one that never was is done. The
/// CPU has no events: what needs one throws, as in LibTorch.
class HB_API Event {
 public:
  Event() = delete;
  /// BACKEND_DEFAULT: it measures time.
  explicit Event(DeviceType type, EventFlag flag = EventFlag::PYTORCH_DEFAULT);
  Device device() const { return {type_, device_index()}; }
  DeviceType device_type() const { return type_; }
  /// -1 before it is recorded.
  DeviceIndex device_index() const { return recorded_ ? event_.device_index() : -1; }
  EventFlag flag() const { return flag_; }
  bool was_marked_for_recording() const { return recorded_; }
  /// Throws for a stream of another device than the first one's.
  void record(const Stream& stream);
  void recordOnce(const Stream& stream) {
    if (!recorded_) record(stream);
  }
  /// What is queued to `stream` from here waits for the event.
  void block(const Stream& stream) const;
  bool query() const { return event_.query(); }
  void synchronize() const { event_.synchronize(); }
  /// Milliseconds between two recorded, done events that measure time; throws for others.
  double elapsedTime(const Event& other) const;
  void* eventId() const { return event_.event(); }

 private:
  DeviceType type_;
  EventFlag flag_;
  bool recorded_ = false;
  mutable cuda::CUDAEvent event_;  // block() makes nothing
};

}  // namespace api
}  // namespace hb::bridge
