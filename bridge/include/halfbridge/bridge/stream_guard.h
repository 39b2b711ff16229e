#pragma once

#include <halfbridge/bridge/cuda/stream.h>
#include <halfbridge/stream.h>

namespace hb::bridge {
inline namespace api {

/// c10::StreamGuard: makes a stream, and its device, current until its end. The CPU's only stream always is.
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream) : stream_(stream), cuda_(of_cuda(stream)) {}
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  /// Of the same kind of device.
  void reset_stream(Stream stream) {
    HB_CHECK(stream.device_type() == stream_.device_type(), "[StreamGuard] expected a stream of ", stream_.device(),
             "'s kind, got one of ", stream.device());
    if (of_cuda(stream)) cuda_.reset_stream(stream);
    stream_ = stream;
  }
  Stream original_stream() const {
    return cuda_.original_stream() ? cuda_.original_stream()->unwrap() : Stream(Stream::DEFAULT, stream_.device());
  }
  Stream current_stream() const { return stream_; }
  Device original_device() const { return cuda_.original_device().value_or(stream_.device()); }
  Device current_device() const { return stream_.device(); }

 private:
  static std::optional<Stream> of_cuda(const Stream& stream) {
    return stream.device().is_cuda() ? std::optional<Stream>(stream) : std::nullopt;
  }
  Stream stream_;
  cuda::OptionalCUDAStreamGuard cuda_;
};

}  // namespace api
}  // namespace hb::bridge
