#include <halfbridge/bridge/cuda/event.h>

#include "autograd/data_calls.h"
#include "core/cuda_api.h"
#include "core/device_backend.h"
#include "cuda/found.h"

namespace hb::bridge::cuda {

CUDAEvent::~CUDAEvent() {
  CudaApi* const api = event_ ? find_cuda_api() : nullptr;
  if (api) api->destroy_event(event_, device_);
}
bool CUDAEvent::query() const { return !event_ || found("CUDAEvent").event_is_done(event_, device_); }
void CUDAEvent::record() { record(getCurrentCUDAStream()); }
void CUDAEvent::recordOnce(const CUDAStream& stream) {
  if (!recorded_) record(stream);
}
void CUDAEvent::record(const CUDAStream& stream) {
  CudaApi& api = found("CUDAEvent");
  if (!event_) {
    device_ = stream.device_index();
    event_ = api.make_event(flags_, device_);
  }
  HB_CHECK(device_ == stream.device_index(), "Event device ", int{device_},
           " does not match recording stream's device ", int{stream.device_index()}, ".");
  api.record_event(event_, stream.id(), device_);
  recorded_ = true;
}
void CUDAEvent::block(const CUDAStream& stream) {
  if (event_) found("CUDAEvent").stream_waits_for(event_, stream.id(), stream.device_index());
}
void CUDAEvent::synchronize() const {
  if (event_) found("CUDAEvent").wait_for_event(event_, device_);
}
float CUDAEvent::elapsed_time(const CUDAEvent& other) const {
  const auto require = [](bool ok, const char* what) {
    if (!ok) throw ValueError(what);
  };
  require(!((flags_ | other.flags_) & cudaEventDisableTiming),
          "Both events must be created with argument 'enable_timing=True'.");
  require(isCreated() && other.isCreated(), "Both events must be recorded before calculating elapsed time.");
  require(query() && other.query(), "Both events must be completed before calculating elapsed time.");
  return found("CUDAEvent").time_between(event_, other.event_, device_);
}

const Generator& getDefaultCUDAGenerator(DeviceIndex device) {
  const DeviceIndex at = checked_device("getDefaultCUDAGenerator", device);
  return found_backend("getDefaultCUDAGenerator").default_generator(at);
}
Generator createCUDAGenerator(DeviceIndex device) {
  Generator made = getDefaultCUDAGenerator(device).clone();
  made.set_current_seed(default_rng_seed_val);
  return made;
}

MempoolId_t graph_pool_handle() { return found("graph_pool_handle").make_graph_pool(); }
CaptureStatus currentStreamCaptureStatusMayInitCtx() {
  if (!is_available()) return CaptureStatus::None;
  const CUDAStream stream = getCurrentCUDAStream();
  return found("CUDAGraph").is_capturing(stream.id(), stream.device_index()) ? CaptureStatus::Active
                                                                             : CaptureStatus::None;
}

CUDAGraph::CUDAGraph(bool keep_graph) : keep_graph_(keep_graph) {}
CUDAGraph::~CUDAGraph() = default;
void CUDAGraph::capture_begin(MempoolId_t pool, cudaStreamCaptureMode mode) {
  CudaApi& api = found("CUDAGraph");
  HB_CHECK(!impl_,
           "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new "
           "instance.");
  HB_CHECK(getCurrentCUDAStream() != getDefaultCUDAStream(),
           "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on "
           "the default stream.)");
  impl_ = api.make_graph(keep_graph_);
  impl_->begin(pool, static_cast<int>(mode));
}
CudaGraphApi& CUDAGraph::impl(const char* what) {
  if (!impl_) found("CUDAGraph");
  HB_CHECK(impl_, "Called CUDAGraph::", what, " without a preceding successful capture.");
  return *impl_;
}
void CUDAGraph::capture_end() { impl("capture_end").end(); }
void CUDAGraph::instantiate() { impl("instantiate").instantiate(); }
void CUDAGraph::replay() {
  impl("replay").replay();
  data_calls.fetch_add(1);  // tensors may have changed whose versions say nothing of it
}
void CUDAGraph::reset() { impl_.reset(); }
MempoolId_t CUDAGraph::pool() { return impl("pool").pool(); }
void CUDAGraph::debug_dump(const std::string& path) { impl("debug_dump").debug_dump(path); }
cudaGraph_t CUDAGraph::raw_cuda_graph() { return static_cast<cudaGraph_t>(impl("raw_cuda_graph").raw_graph()); }
cudaGraphExec_t CUDAGraph::raw_cuda_graph_exec() {
  return static_cast<cudaGraphExec_t>(impl("raw_cuda_graph_exec").raw_executable());
}

}  // namespace hb::bridge::cuda
