#pragma once
// c10::cuda: streams, and the guards that make devices and streams current for a scope.

#include <optional>
#include <ostream>
#include <tuple>
#include <vector>

#include <halfbridge/array_ref.h>
#include <halfbridge/bridge/cuda/device.h>
#include <halfbridge/stream.h>

namespace hb::bridge::cuda {

/// A queue of work on a device. Every function that gives one throws where there is no device.
class HB_API CUDAStream {
 public:
  enum Unchecked { UNCHECKED };
  /// Throws for a stream of another kind of device.
  explicit CUDAStream(Stream stream);
  explicit CUDAStream(Unchecked, Stream stream) : stream_(stream) {}
  bool operator==(const CUDAStream& o) const noexcept { return stream_ == o.stream_; }
  bool operator!=(const CUDAStream& o) const noexcept { return stream_ != o.stream_; }
  operator cudaStream_t() const { return stream(); }  // NOLINT: implicit as in LibTorch
  operator Stream() const { return stream_; }         // NOLINT
  DeviceType device_type() const { return kCUDA; }
  DeviceIndex device_index() const { return stream_.device_index(); }
  Device device() const { return stream_.device(); }
  StreamId id() const { return stream_.id(); }
  /// Whether its work is done.
  bool query() const;
  void synchronize() const;
  int priority() const;
  cudaStream_t stream() const;
  Stream unwrap() const { return stream_; }
  StreamData3 pack3() const { return stream_.pack3(); }
  static CUDAStream unpack3(StreamId id, DeviceIndex index, DeviceType type) {
    return CUDAStream(Stream::unpack3(id, index, type));
  }
  /// The least and the greatest priority; smaller numbers come first.
  static std::tuple<int, int> priority_range();

 private:
  Stream stream_;
};
inline std::ostream& operator<<(std::ostream& out, const CUDAStream& stream) { return out << stream.unwrap(); }

// Device -1 is the current one.
/// One of 32 streams per device and priority, in turn.
HB_API CUDAStream getStreamFromPool(bool high_priority = false, DeviceIndex device = -1);
HB_API CUDAStream getStreamFromPool(int priority, DeviceIndex device = -1);
/// A stream that the program made by CUDA's runtime, and destroys.
HB_API CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex device);
HB_API CUDAStream getDefaultCUDAStream(DeviceIndex device = -1);
/// This thread's.
HB_API CUDAStream getCurrentCUDAStream(DeviceIndex device = -1);
HB_API void setCurrentCUDAStream(const CUDAStream& stream);
HB_API void stream_synchronize(cudaStream_t stream);
/// Copies, and waits for the stream.
HB_API void memcpy_and_sync(void* to, const void* from, int64_t bytes, cudaMemcpyKind kind, cudaStream_t stream);

/// Makes a device current until its end. Throws for a device of another kind.
class HB_API CUDAGuard {
 public:
  explicit CUDAGuard(DeviceIndex device);
  explicit CUDAGuard(Device device);
  ~CUDAGuard();
  CUDAGuard(const CUDAGuard&) = delete;
  CUDAGuard& operator=(const CUDAGuard&) = delete;
  void set_device(Device device);
  void reset_device(Device device) { set_device(device); }
  void set_index(DeviceIndex device);
  Device original_device() const { return {kCUDA, original_}; }
  Device current_device() const { return {kCUDA, current_}; }

 private:
  DeviceIndex original_ = -1, current_ = -1;
};

/// The same, or nothing while it is given no device.
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  explicit OptionalCUDAGuard(std::optional<DeviceIndex> device) {
    if (device) guard_.emplace(*device);
  }
  OptionalCUDAGuard(const OptionalCUDAGuard&) = delete;
  OptionalCUDAGuard& operator=(const OptionalCUDAGuard&) = delete;
  void set_device(Device device) { guard_ ? guard_->set_device(device) : static_cast<void>(guard_.emplace(device)); }
  void reset_device(Device device) { set_device(device); }
  void set_index(DeviceIndex device) { set_device(Device(kCUDA, device)); }
  std::optional<Device> original_device() const {
    return guard_ ? std::optional<Device>(guard_->original_device()) : std::nullopt;
  }
  std::optional<Device> current_device() const {
    return guard_ ? std::optional<Device>(guard_->current_device()) : std::nullopt;
  }
  void reset() { guard_.reset(); }

 private:
  std::optional<CUDAGuard> guard_;
};

/// Makes a stream, and its device, current until its end.
class HB_API CUDAStreamGuard {
 public:
  explicit CUDAStreamGuard(Stream stream);
  ~CUDAStreamGuard();
  CUDAStreamGuard(const CUDAStreamGuard&) = delete;
  CUDAStreamGuard& operator=(const CUDAStreamGuard&) = delete;
  void reset_stream(Stream stream);
  CUDAStream original_stream() const { return original_; }
  CUDAStream current_stream() const { return current_; }
  Device original_device() const { return {kCUDA, original_device_}; }
  Device current_device() const { return current_.device(); }

 private:
  void enter(Stream stream);
  void leave() noexcept;
  DeviceIndex original_device_ = -1;
  CUDAStream original_, current_;  // original: of the device of `current`
};

class OptionalCUDAStreamGuard {
 public:
  OptionalCUDAStreamGuard() = default;
  explicit OptionalCUDAStreamGuard(std::optional<Stream> stream) {
    if (stream) guard_.emplace(*stream);
  }
  OptionalCUDAStreamGuard(const OptionalCUDAStreamGuard&) = delete;
  OptionalCUDAStreamGuard& operator=(const OptionalCUDAStreamGuard&) = delete;
  void reset_stream(Stream stream) {
    guard_ ? guard_->reset_stream(stream) : static_cast<void>(guard_.emplace(stream));
  }
  std::optional<CUDAStream> original_stream() const {
    return guard_ ? std::optional<CUDAStream>(guard_->original_stream()) : std::nullopt;
  }
  std::optional<CUDAStream> current_stream() const {
    return guard_ ? std::optional<CUDAStream>(guard_->current_stream()) : std::nullopt;
  }
  std::optional<Device> original_device() const {
    return guard_ ? std::optional<Device>(guard_->original_device()) : std::nullopt;
  }
  void reset() { guard_.reset(); }

 private:
  std::optional<CUDAStreamGuard> guard_;
};

/// Streams of several devices, made current until its end; the current device stays.
class HB_API CUDAMultiStreamGuard {
 public:
  explicit CUDAMultiStreamGuard(ArrayRef<CUDAStream> streams);
  ~CUDAMultiStreamGuard();
  CUDAMultiStreamGuard(const CUDAMultiStreamGuard&) = delete;
  CUDAMultiStreamGuard& operator=(const CUDAMultiStreamGuard&) = delete;

 private:
  std::vector<CUDAStream> before_;
};

}  // namespace hb::bridge::cuda

template <>
struct std::hash<hb::bridge::cuda::CUDAStream> {
  size_t operator()(const hb::bridge::cuda::CUDAStream& stream) const noexcept {
    return std::hash<hb::Stream>()(stream.unwrap());
  }
};
