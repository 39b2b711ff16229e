#pragma once
// c10::cuda and at::cuda without a CUDA device: there are none, and what needs one throws c10::CUDAError.

#include <memory>
#include <optional>
#include <ostream>
#include <tuple>
#include <utility>

#include <halfbridge/array_ref.h>
#include <halfbridge/bridge/context.h>
#include <halfbridge/bridge/cuda/types.h>
#include <halfbridge/bridge/stream.h>
#include <halfbridge/data_ptr.h>
#include <halfbridge/error.h>

namespace hb::bridge {

class CUDAError : public Error {
 public:
  using Error::Error;
};

namespace cuda {

/// Throws: "[what] No CUDA GPUs are available …".
[[noreturn]] HB_API void no_device(const char* what);
/// Throws what a call of CUDA's runtime returned, unless that was success.
HB_API void check_code(int code, const char* file, int line);

// device_count and is_available: context.h.
inline DeviceIndex device_count_ensure_non_zero() { no_device("device_count_ensure_non_zero"); }
inline DeviceIndex current_device() { no_device("current_device"); }
inline void set_device(DeviceIndex /*device*/, bool /*force*/ = false) { no_device("set_device"); }
inline void device_synchronize() { no_device("device_synchronize"); }
inline DeviceIndex ExchangeDevice(DeviceIndex device) {
  if (device >= 0) no_device("ExchangeDevice");
  return -1;
}
inline DeviceIndex MaybeExchangeDevice(DeviceIndex device) { return ExchangeDevice(device); }
inline cudaError_t GetDeviceCount(int* count) { return *count = 0, cudaErrorNoDevice; }
inline cudaError_t GetDevice(DeviceIndex* device) { return *device = -1, cudaErrorNoDevice; }
inline cudaError_t SetDevice(DeviceIndex /*device*/, bool /*force*/ = false) { return cudaErrorNoDevice; }
inline cudaError_t MaybeSetDevice(DeviceIndex /*device*/) { return cudaErrorNoDevice; }
inline bool hasPrimaryContext(DeviceIndex /*device*/) { return false; }
inline std::optional<DeviceIndex> getDeviceIndexWithPrimaryContext() { return std::nullopt; }
inline void stream_synchronize(cudaStream_t /*stream*/) { no_device("stream_synchronize"); }
inline void memcpy_and_sync(void* /*to*/, const void* /*from*/, int64_t /*bytes*/, cudaMemcpyKind /*kind*/,
                            cudaStream_t /*stream*/) {
  no_device("memcpy_and_sync");
}

inline int64_t getNumGPUs() { return 0; }
inline int warp_size() { no_device("warp_size"); }
inline cudaDeviceProp* getCurrentDeviceProperties() { no_device("getCurrentDeviceProperties"); }
inline cudaDeviceProp* getDeviceProperties(DeviceIndex /*device*/) { no_device("getDeviceProperties"); }
inline bool canDeviceAccessPeer(DeviceIndex /*device*/, DeviceIndex /*peer*/) { no_device("canDeviceAccessPeer"); }
inline Allocator* getCUDADeviceAllocator() { no_device("getCUDADeviceAllocator"); }
inline Allocator* getPinnedMemoryAllocator() { no_device("getPinnedMemoryAllocator"); }

/// Every function that gives a stream throws, for there are none.
class CUDAStream {
 public:
  enum Unchecked { UNCHECKED };
  explicit CUDAStream(Stream /*stream*/) : CUDAStream() {}
  explicit CUDAStream(Unchecked, Stream /*stream*/) : CUDAStream() {}
  bool operator==(const CUDAStream& o) const noexcept { return stream_ == o.stream_; }
  bool operator!=(const CUDAStream& o) const noexcept { return stream_ != o.stream_; }
  operator cudaStream_t() const { return stream(); }  // NOLINT: implicit as in LibTorch
  operator Stream() const { return stream_; }         // NOLINT
  DeviceType device_type() const { return kCUDA; }
  DeviceIndex device_index() const { return stream_.device_index(); }
  Device device() const { return stream_.device(); }
  StreamId id() const { return stream_.id(); }
  bool query() const { no_device("CUDAStream"); }
  void synchronize() const { no_device("CUDAStream"); }
  int priority() const { no_device("CUDAStream"); }
  cudaStream_t stream() const { no_device("CUDAStream"); }
  Stream unwrap() const { return stream_; }
  StreamData3 pack3() const { return stream_.pack3(); }
  static CUDAStream unpack3(StreamId id, DeviceIndex index, DeviceType type) {
    return CUDAStream(Stream::unpack3(id, index, type));
  }
  static std::tuple<int, int> priority_range() { no_device("CUDAStream"); }

 private:
  CUDAStream() : stream_(Stream::DEFAULT, Device(kCUDA)) { no_device("CUDAStream"); }
  Stream stream_;
};
inline std::ostream& operator<<(std::ostream& out, const CUDAStream& stream) { return out << stream.unwrap(); }
inline CUDAStream getStreamFromPool(bool /*high_priority*/ = false, DeviceIndex /*device*/ = -1) {
  no_device("getStreamFromPool");
}
inline CUDAStream getStreamFromPool(int /*priority*/, DeviceIndex /*device*/ = -1) { no_device("getStreamFromPool"); }
inline CUDAStream getStreamFromExternal(cudaStream_t /*stream*/, DeviceIndex /*device*/) {
  no_device("getStreamFromExternal");
}
inline CUDAStream getDefaultCUDAStream(DeviceIndex /*device*/ = -1) { no_device("getDefaultCUDAStream"); }
inline CUDAStream getCurrentCUDAStream(DeviceIndex /*device*/ = -1) { no_device("getCurrentCUDAStream"); }
inline void setCurrentCUDAStream(const CUDAStream& /*stream*/) { no_device("setCurrentCUDAStream"); }

/// Throws, for there is no device to make current. The optional form does nothing while it is given no device.
class CUDAGuard {
 public:
  explicit CUDAGuard(DeviceIndex /*device*/) { no_device("CUDAGuard"); }
  explicit CUDAGuard(Device /*device*/) { no_device("CUDAGuard"); }
  CUDAGuard(const CUDAGuard&) = delete;
  CUDAGuard& operator=(const CUDAGuard&) = delete;
  void set_device(Device /*device*/) { no_device("CUDAGuard"); }
  void reset_device(Device /*device*/) { no_device("CUDAGuard"); }
  void set_index(DeviceIndex /*device*/) { no_device("CUDAGuard"); }
  Device original_device() const { no_device("CUDAGuard"); }
  Device current_device() const { no_device("CUDAGuard"); }
};
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device) no_device("OptionalCUDAGuard");
  }
  explicit OptionalCUDAGuard(std::optional<DeviceIndex> device) {
    if (device) no_device("OptionalCUDAGuard");
  }
  OptionalCUDAGuard(const OptionalCUDAGuard&) = delete;
  OptionalCUDAGuard& operator=(const OptionalCUDAGuard&) = delete;
  void set_device(Device /*device*/) { no_device("OptionalCUDAGuard"); }
  void reset_device(Device /*device*/) { no_device("OptionalCUDAGuard"); }
  void set_index(DeviceIndex /*device*/) { no_device("OptionalCUDAGuard"); }
  std::optional<Device> original_device() const { return std::nullopt; }
  std::optional<Device> current_device() const { return std::nullopt; }
  void reset() {}
};
class CUDAStreamGuard {
 public:
  explicit CUDAStreamGuard(Stream /*stream*/) { no_device("CUDAStreamGuard"); }
  CUDAStreamGuard(const CUDAStreamGuard&) = delete;
  CUDAStreamGuard& operator=(const CUDAStreamGuard&) = delete;
  void reset_stream(Stream /*stream*/) { no_device("CUDAStreamGuard"); }
  CUDAStream original_stream() const { no_device("CUDAStreamGuard"); }
  CUDAStream current_stream() const { no_device("CUDAStreamGuard"); }
  Device original_device() const { no_device("CUDAStreamGuard"); }
  Device current_device() const { no_device("CUDAStreamGuard"); }
};
class OptionalCUDAStreamGuard {
 public:
  OptionalCUDAStreamGuard() = default;
  explicit OptionalCUDAStreamGuard(std::optional<Stream> stream) {
    if (stream) no_device("OptionalCUDAStreamGuard");
  }
  OptionalCUDAStreamGuard(const OptionalCUDAStreamGuard&) = delete;
  OptionalCUDAStreamGuard& operator=(const OptionalCUDAStreamGuard&) = delete;
  void reset_stream(Stream /*stream*/) { no_device("OptionalCUDAStreamGuard"); }
  std::optional<CUDAStream> original_stream() const { return std::nullopt; }
  std::optional<CUDAStream> current_stream() const { return std::nullopt; }
  void reset() {}
};
class CUDAMultiStreamGuard {
 public:
  explicit CUDAMultiStreamGuard(ArrayRef<CUDAStream> streams) {
    if (!streams.empty()) no_device("CUDAMultiStreamGuard");
  }
  CUDAMultiStreamGuard(const CUDAMultiStreamGuard&) = delete;
  CUDAMultiStreamGuard& operator=(const CUDAMultiStreamGuard&) = delete;
};

}  // namespace cuda
}  // namespace hb::bridge

template <>
struct std::hash<hb::bridge::cuda::CUDAStream> {
  size_t operator()(const hb::bridge::cuda::CUDAStream& stream) const noexcept {
    return std::hash<hb::bridge::Stream>()(stream.unwrap());
  }
};

#define HB_CUDA_CHECK(expression) ::hb::bridge::cuda::check_code(static_cast<int>(expression), __FILE__, __LINE__)
