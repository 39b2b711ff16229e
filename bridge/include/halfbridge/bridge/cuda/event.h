#pragma once
// at::cuda::CUDAEvent and CUDAGraph.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <halfbridge/bridge/cuda/stream.h>
#include <halfbridge/generator.h>

namespace hb {
class CudaGraphApi;
}

namespace hb::bridge::cuda {

/// A mark in a stream's work. It is made when it is recorded first; one that never was is done.
class HB_API CUDAEvent {
 public:
  CUDAEvent() = default;
  /// Times are measured only where `flags` is cudaEventDefault (or lacks cudaEventDisableTiming, which is the default).
  explicit CUDAEvent(unsigned flags) : flags_(flags) {}
  ~CUDAEvent();
  CUDAEvent(const CUDAEvent&) = delete;
  CUDAEvent& operator=(const CUDAEvent&) = delete;
  CUDAEvent(CUDAEvent&& o) noexcept { swap(o); }
  CUDAEvent& operator=(CUDAEvent&& o) noexcept {
    if (this != &o) swap(o);
    return *this;
  }
  operator cudaEvent_t() const { return event(); }  // NOLINT: implicit as in LibTorch
  friend bool operator<(const CUDAEvent& a, const CUDAEvent& b) { return a.event_ < b.event_; }
  bool isCreated() const { return event_ != nullptr; }
  DeviceIndex device_index() const { return device_; }
  std::optional<Device> device() const {
    return isCreated() ? std::optional<Device>(Device(kCUDA, device_)) : std::nullopt;
  }
  cudaEvent_t event() const { return static_cast<cudaEvent_t>(event_); }
  bool query() const;
  /// On the current stream.
  void record();
  /// Throws for a stream of another device than the first one's.
  void record(const CUDAStream& stream);
  void recordOnce(const CUDAStream& stream);
  /// What is queued to `stream` from here waits for the event.
  void block(const CUDAStream& stream);
  void synchronize() const;
  /// Milliseconds between two recorded, done events that measure time; throws for others.
  float elapsed_time(const CUDAEvent& other) const;

 private:
  void swap(CUDAEvent& o) noexcept {
    std::swap(flags_, o.flags_), std::swap(recorded_, o.recorded_);
    std::swap(device_, o.device_), std::swap(event_, o.event_);
  }
  unsigned flags_ = cudaEventDisableTiming;
  bool recorded_ = false;
  DeviceIndex device_ = -1;
  void* event_ = nullptr;
};

using CaptureId_t = unsigned long long;             // NOLINT: CUDA's type
using MempoolId_t = std::pair<uint64_t, uint64_t>;  // LibTorch's form of a name for a pool of memory
/// A new pool of memory for graphs.
HB_API MempoolId_t graph_pool_handle();

/// Work of a stream, recorded once and launched again as one. Its tensors keep their memory as long as it lives.
class HB_API CUDAGraph {
 public:
  /// keep_graph: it is made executable by instantiate(), not by capture_end().
  explicit CUDAGraph(bool keep_graph = false);
  ~CUDAGraph();
  CUDAGraph(const CUDAGraph&) = delete;
  CUDAGraph& operator=(const CUDAGraph&) = delete;
  /// Throws on the default stream, which cannot be recorded.
  void capture_begin(MempoolId_t pool = {0, 0}, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal);
  void capture_end();
  void instantiate();
  void replay();
  void reset();
  MempoolId_t pool();
  void enable_debug_mode() {}
  void debug_dump(const std::string& path);
  cudaGraph_t raw_cuda_graph();
  cudaGraphExec_t raw_cuda_graph_exec();

 private:
  CudaGraphApi& impl(const char* what);
  bool keep_graph_;
  std::unique_ptr<CudaGraphApi> impl_;
};

/// Whether the current stream is being recorded.
enum class CaptureStatus : int { None = 0, Active = 1, Invalidated = 2 };
HB_API CaptureStatus currentStreamCaptureStatusMayInitCtx();

HB_API const Generator& getDefaultCUDAGenerator(DeviceIndex device = -1);
/// A generator of its own, with the default seed.
HB_API Generator createCUDAGenerator(DeviceIndex device = -1);

}  // namespace hb::bridge::cuda
