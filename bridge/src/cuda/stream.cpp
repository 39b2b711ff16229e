#include <halfbridge/bridge/cuda/stream.h>

#include "core/cuda_api.h"
#include "core/device_backend.h"
#include "cuda/found.h"

namespace hb::bridge::cuda {
namespace {

CUDAStream stream_of(DeviceIndex device, StreamId id) {
  return CUDAStream(CUDAStream::UNCHECKED, Stream(Stream::UNSAFE, Device(kCUDA, device), id));
}
void check_cuda(const char* what, const Device& device) {
  HB_CHECK(device.is_cuda(), "[", what, "] expected a device of CUDA, got ", device);
}

}  // namespace

CUDAStream::CUDAStream(Stream stream) : stream_(stream) {
  HB_CHECK(stream.device_type() == kCUDA, "[CUDAStream] expected a stream of CUDA, got ", stream);
}
bool CUDAStream::query() const { return found("CUDAStream").stream_is_done(id(), device_index()); }
void CUDAStream::synchronize() const { found("CUDAStream").wait_for_stream(id(), device_index()); }
int CUDAStream::priority() const { return found("CUDAStream").stream_priority(id(), device_index()); }
cudaStream_t CUDAStream::stream() const {
  return static_cast<cudaStream_t>(found("CUDAStream").stream_handle(id(), device_index()));
}
std::tuple<int, int> CUDAStream::priority_range() { return found("CUDAStream").priority_range(); }

CUDAStream getStreamFromPool(int priority, DeviceIndex device) {
  const DeviceIndex at = checked_device("getStreamFromPool", device);
  return stream_of(at, found("getStreamFromPool").stream_from_pool(priority, at));
}
CUDAStream getStreamFromPool(bool high_priority, DeviceIndex device) {
  return getStreamFromPool(high_priority ? -1 : 0, device);
}
CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex device) {
  const DeviceIndex at = checked_device("getStreamFromExternal", device);
  return stream_of(at, found("getStreamFromExternal").stream_from_handle(stream, at));
}
CUDAStream getDefaultCUDAStream(DeviceIndex device) {
  return stream_of(checked_device("getDefaultCUDAStream", device), 0);
}
CUDAStream getCurrentCUDAStream(DeviceIndex device) {
  const DeviceIndex at = checked_device("getCurrentCUDAStream", device);
  return stream_of(at, found("getCurrentCUDAStream").current_stream(at));
}
void setCurrentCUDAStream(const CUDAStream& stream) {
  found("setCurrentCUDAStream").set_current_stream(stream.id(), stream.device_index());
}
void stream_synchronize(cudaStream_t stream) { found("stream_synchronize").wait_for_handle(stream); }
void memcpy_and_sync(void* to, const void* from, int64_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  found("memcpy_and_sync").copy_and_wait(to, from, static_cast<size_t>(bytes), static_cast<int>(kind), stream);
}

CUDAGuard::CUDAGuard(DeviceIndex device) : original_(found_backend("CUDAGuard").current()), current_(original_) {
  set_index(device);
}
CUDAGuard::CUDAGuard(Device device)
    : CUDAGuard((check_cuda("CUDAGuard", device), device.has_index() ? device.index() : DeviceIndex{-1})) {}
CUDAGuard::~CUDAGuard() {
  if (original_ != current_) found_backend("CUDAGuard").set_current(original_);
}
void CUDAGuard::set_device(Device device) {
  check_cuda("CUDAGuard", device);
  set_index(device.index());
}
void CUDAGuard::set_index(DeviceIndex device) {
  current_ = checked_device("CUDAGuard", device);
  found_backend("CUDAGuard").set_current(current_);
}

CUDAStreamGuard::CUDAStreamGuard(Stream stream) : original_(CUDAStream::UNCHECKED, stream), current_(original_) {
  check_cuda("CUDAStreamGuard", stream.device());
  original_device_ = found_backend("CUDAStreamGuard").current();
  enter(stream);
}
CUDAStreamGuard::~CUDAStreamGuard() { leave(); }
void CUDAStreamGuard::reset_stream(Stream stream) {
  check_cuda("CUDAStreamGuard", stream.device());
  leave();
  enter(stream);
}
void CUDAStreamGuard::enter(Stream stream) {
  CudaApi& api = found("CUDAStreamGuard");
  original_ = stream_of(stream.device_index(), api.current_stream(stream.device_index()));
  current_ = CUDAStream(stream);
  found_backend("CUDAStreamGuard").set_current(stream.device_index());
  api.set_current_stream(stream.id(), stream.device_index());
}
void CUDAStreamGuard::leave() noexcept {
  found("CUDAStreamGuard").set_current_stream(original_.id(), original_.device_index());
  found_backend("CUDAStreamGuard").set_current(original_device_);
}

CUDAMultiStreamGuard::CUDAMultiStreamGuard(ArrayRef<CUDAStream> streams) {
  if (streams.empty()) return;
  CudaApi& api = found("CUDAMultiStreamGuard");
  for (const CUDAStream& stream : streams) {
    before_.push_back(stream_of(stream.device_index(), api.current_stream(stream.device_index())));
    api.set_current_stream(stream.id(), stream.device_index());
  }
}
CUDAMultiStreamGuard::~CUDAMultiStreamGuard() {
  for (auto it = before_.rbegin(); it != before_.rend(); ++it)
    found("CUDAMultiStreamGuard").set_current_stream(it->id(), it->device_index());
}

}  // namespace hb::bridge::cuda
