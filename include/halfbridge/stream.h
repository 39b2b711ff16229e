#pragma once
// c10::Stream: queues of work on a device. The CPU has one, which is always done.

#include <cstdint>
#include <functional>
#include <ostream>

#include <halfbridge/device.h>
#include <halfbridge/macros.h>

namespace hb {

using StreamId = int64_t;

/// A stream as three numbers.
struct StreamData3 {
  StreamId stream_id;
  DeviceIndex device_index;
  DeviceType device_type;
};

class HB_API Stream {
 public:
  enum Unsafe { UNSAFE };
  enum Default { DEFAULT };
  explicit Stream(Unsafe, Device device, StreamId id) : device_(device), id_(id) {}
  explicit Stream(Default, Device device) : device_(device) {}
  Device device() const { return device_; }
  DeviceType device_type() const { return device_.type(); }
  DeviceIndex device_index() const { return device_.index(); }
  StreamId id() const { return id_; }
  /// Whether all work is done.
  bool query() const;
  /// Waits until all work is done.
  void synchronize() const;
  /// The stream's next work begins after the event.
  template <class Event>
  void wait(const Event& event) const {
    event.block(*this);
  }
  StreamData3 pack3() const { return {id_, device_.index(), device_.type()}; }
  static Stream unpack3(StreamId id, DeviceIndex index, DeviceType type) { return Stream(UNSAFE, {type, index}, id); }
  uint64_t hash() const {
    return (static_cast<uint64_t>(std::hash<Device>()(device_)) << 48) ^ static_cast<uint64_t>(id_);
  }
  bool operator==(const Stream& o) const { return device_ == o.device_ && id_ == o.id_; }
  bool operator!=(const Stream& o) const { return !(*this == o); }

 private:
  Device device_;
  StreamId id_ = 0;
};
inline std::ostream& operator<<(std::ostream& out, const Stream& stream) {
  return out << "stream " << stream.id() << " on device " << stream.device();
}

enum class EventFlag { PYTORCH_DEFAULT, BACKEND_DEFAULT, INVALID };

}  // namespace hb

template <>
struct std::hash<hb::Stream> {
  size_t operator()(const hb::Stream& stream) const noexcept { return static_cast<size_t>(stream.hash()); }
};
