#pragma once
// Streams of the devices, and the current one of each thread.

#include "core/cuda_api.h"
#include "cuda/runtime.h"

namespace hb::cuda {

/// Devices there are.
DeviceIndex device_count();
DeviceIndex current_device();
void set_current_device(DeviceIndex device);

/// Makes a device current while it lives.
class OnDevice {
 public:
  explicit OnDevice(DeviceIndex device) : before_(current_device()) {
    if (device != before_) set_current_device(device);
  }
  ~OnDevice() {
    if (current_device() != before_) set_current_device(before_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  DeviceIndex before_;
};

/// The stream in which kernels are launched: the current one of this thread and its device.
cudaStream_t current_stream();

CudaStreamId current_stream_id(DeviceIndex device);
void set_current_stream_id(CudaStreamId id, DeviceIndex device);
CudaStreamId stream_from_pool(int priority, DeviceIndex device);
CudaStreamId stream_from_handle(cudaStream_t stream, DeviceIndex device);
cudaStream_t stream_handle(CudaStreamId id, DeviceIndex device);
int stream_priority(CudaStreamId id);

/// Waits for a stream and throws what its kernels reported.
void wait_for(cudaStream_t stream);

/// An event that is destroyed with its owner.
class OwnedEvent {
 public:
  OwnedEvent() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate"); }
  ~OwnedEvent() { cudaEventDestroy(event_); }
  OwnedEvent(const OwnedEvent&) = delete;
  OwnedEvent& operator=(const OwnedEvent&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};
/// Whether what was queued before the event was recorded is done.
inline bool has_passed(cudaEvent_t event) {
  if (cudaEventQuery(event) == cudaSuccess) return true;
  cudaGetLastError();  // "not ready" stays behind, and CUB would take it for its own error
  return false;
}
/// What is queued in `later` from now on waits for what is queued in `earlier` now.
void order(cudaStream_t earlier, cudaStream_t later);

}  // namespace hb::cuda
