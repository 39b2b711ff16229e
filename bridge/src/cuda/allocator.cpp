#include <halfbridge/bridge/cuda/allocator.h>

#include "core/cuda_api.h"
#include "core/device_backend.h"
#include "cuda/found.h"

namespace hb::bridge::cuda {
namespace {

class DeviceAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    const DeviceIndex device = checked_device("raw_alloc", -1);
    void* const memory = bytes ? caching_allocator::raw_alloc(bytes) : nullptr;
    return {memory, memory, caching_allocator::raw_delete, Device(kCUDA, device)};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    const Device device(kCUDA, current_device());
    copy_memory(to, device, from, device, bytes);
  }
  DeleterFnPtr raw_deleter() const override { return caching_allocator::raw_delete; }
};

void delete_pinned(void* memory) {
  CudaApi* const api = find_cuda_api();
  if (memory && api) api->free_pinned(memory);
}

class PinnedAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    void* const memory = bytes ? found("getPinnedMemoryAllocator").allocate_pinned(bytes) : nullptr;
    return {memory, memory, delete_pinned, kCPU};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }
  DeleterFnPtr raw_deleter() const override { return delete_pinned; }
};

}  // namespace

Allocator* getCUDADeviceAllocator() {
  found("getCUDADeviceAllocator");
  static auto* const made = new DeviceAllocator;
  return made;
}
Allocator* getPinnedMemoryAllocator() {
  found("getPinnedMemoryAllocator");
  static auto* const made = new PinnedAllocator;
  return made;
}

namespace caching_allocator {

void emptyCache(MempoolId_t /*pool*/) {
  if (CudaApi* const api = find_cuda_api()) api->empty_cache();
}
void* raw_alloc(size_t bytes) {
  CudaApi& api = found("raw_alloc");
  const DeviceIndex device = current_device();
  return api.raw_allocate(bytes, api.current_stream(device), device);
}
void* raw_alloc_with_stream(size_t bytes, cudaStream_t stream) {
  CudaApi& api = found("raw_alloc_with_stream");
  const DeviceIndex device = current_device();
  return api.raw_allocate(bytes, api.stream_from_handle(stream, device), device);
}
void raw_delete(void* data) {
  if (data) found("raw_delete").raw_free(data);
}
void recordStream(const DataPtr& data, const CUDAStream& stream) {
  if (data.get()) found("recordStream").record_stream(data.get(), stream.id(), stream.device_index());
}
DeviceStats getDeviceStats(DeviceIndex device) {
  return found("getDeviceStats").statistics(checked_device("getDeviceStats", device));
}
void resetAccumulatedStats(DeviceIndex device) {
  found("resetAccumulatedStats").reset_accumulated_statistics(checked_device("resetAccumulatedStats", device));
}
void resetPeakStats(DeviceIndex device) {
  found("resetPeakStats").reset_peak_statistics(checked_device("resetPeakStats", device));
}
void setMemoryFraction(double fraction, DeviceIndex device) {
  HB_CHECK(fraction >= 0 && fraction <= 1, "invalid fraction:", fraction, ". Please set within [0, 1].");
  found("setMemoryFraction").set_memory_fraction(fraction, checked_device("setMemoryFraction", device));
}
double getMemoryFraction(DeviceIndex device) {
  return found("getMemoryFraction").memory_fraction(checked_device("getMemoryFraction", device));
}

}  // namespace caching_allocator
}  // namespace hb::bridge::cuda
