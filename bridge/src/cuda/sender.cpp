#include <halfbridge/sent_ahead.h>

#include <halfbridge/ops.h>

#include "core/cuda_api.h"
#include "core/device_backend.h"

namespace hb::cuda {

struct Sender::State {
  explicit State(const Device& where) : device(where) {
    if (!device.is_cuda()) return;
    api = &cuda_api("Sender");
    stream = api->stream_from_pool(/*priority=*/0, device.index());
    sent = api->make_event(/*cudaEventDisableTiming*/ 2, device.index());
  }
  ~State() {
    if (sent) api->destroy_event(sent, device.index());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Device device;
  CudaApi* api = nullptr;  // of a GPU
  CudaStreamId stream = 0;
  void* sent = nullptr;  // an event after the last copy
};

Sender::Sender(const Device& device) : state_(std::make_unique<State>(indexed_device("Sender", device))) {}
Sender::~Sender() = default;

Tensor Sender::send(const Tensor& tensor) {
  State& s = *state_;
  if (!tensor.defined() || tensor.device() == s.device) return tensor;
  if (!s.api || !tensor.device().is_cpu() || tensor.layout() != kStrided) return tensor.to(s.device);
  const DeviceIndex index = s.device.index();
  struct Current {  // puts the stream back that was current
    State& s;
    CudaStreamId before;
    ~Current() { s.api->set_current_stream(before, s.device.index()); }
  } current{s, s.api->current_stream(index)};
  s.api->set_current_stream(s.stream, index);
  Tensor there = tensor.pin_memory().to(s.device, tensor.scalar_type(), /*non_blocking=*/true);
  s.api->record_event(s.sent, s.stream, index);
  return there;
}

void Sender::receive(const Tensor& tensor) {
  State& s = *state_;
  if (!s.api || !tensor.defined() || tensor.device() != s.device || tensor.layout() != kStrided || tensor.numel() == 0)
    return;
  const CudaStreamId current = s.api->current_stream(s.device.index());
  s.api->stream_waits_for(s.sent, current, s.device.index());
  s.api->record_stream(tensor.impl().physical_storage()->data(), current, s.device.index());
}

}  // namespace hb::cuda
