#pragma once
// c10::Stream and Event: queues of work on a device. The CPU has one, which is always done.

#include <cstdint>
#include <functional>
#include <ostream>

#include <halfbridge/device.h>
#include <halfbridge/error.h>

namespace hb::bridge {
inline namespace api {

using StreamId = int64_t;

/// A stream as three numbers.
struct StreamData3 {
  StreamId stream_id;
  DeviceIndex device_index;
  DeviceType device_type;
};

class Stream {
 public:
  enum Unsafe { UNSAFE };
  enum Default { DEFAULT };
  explicit Stream(Unsafe, Device device, StreamId id) : device_(device), id_(id) {}
  explicit Stream(Default, Device device) : device_(device) {}
  Device device() const { return device_; }
  DeviceType device_type() const { return device_.type(); }
  DeviceIndex device_index() const { return device_.index(); }
  StreamId id() const { return id_; }
  /// Whether all work is done; throws for devices other than the CPU.
  bool query() const { return check("query"), true; }
  void synchronize() const { check("synchronize"); }
  template <class Event>
  void wait(const Event&) const {
    check("wait");
  }
  StreamData3 pack3() const { return {id_, device_.index(), device_.type()}; }
  static Stream unpack3(StreamId id, DeviceIndex index, DeviceType type) { return Stream(UNSAFE, {type, index}, id); }
  uint64_t hash() const {
    return (static_cast<uint64_t>(std::hash<Device>()(device_)) << 48) ^ static_cast<uint64_t>(id_);
  }
  bool operator==(const Stream& o) const { return device_ == o.device_ && id_ == o.id_; }
  bool operator!=(const Stream& o) const { return !(*this == o); }

 private:
  void check(const char* what) const {
    if (!device_.is_cpu())
      HB_NOT_SUPPORTED("[Stream] expected a stream of the CPU, got one of ", device_, " for ", what,
                       ": this build computes on the CPU");
  }
  Device device_;
  StreamId id_ = 0;
};
inline std::ostream& operator<<(std::ostream& out, const Stream& stream) {
  return out << "stream " << stream.id() << " on device " << stream.device();
}

enum class EventFlag { PYTORCH_DEFAULT, BACKEND_DEFAULT, INVALID };

/// Stream after stream: those of the CPU are always done, so an event of it has nothing to wait for.
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream) : stream_(stream) { stream.synchronize(); }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  void reset_stream(Stream stream) { stream.synchronize(), stream_ = stream; }
  Stream original_stream() const { return Stream(Stream::DEFAULT, stream_.device()); }
  Stream current_stream() const { return stream_; }
  Device original_device() const { return stream_.device(); }
  Device current_device() const { return stream_.device(); }

 private:
  Stream stream_;
};

}  // namespace api
}  // namespace hb::bridge

template <>
struct std::hash<hb::bridge::Stream> {
  size_t operator()(const hb::bridge::Stream& stream) const noexcept { return static_cast<size_t>(stream.hash()); }
};
