// What programs ask of CUDA beyond tensors.
#include "cuda/api.h"

#include <deque>
#include <mutex>

#include <halfbridge/error.h>

#include "core/cuda_api.h"
#include "core/pending.h"
#include "cuda/allocator.h"
#include "cuda/cudnn.h"
#include "cuda/graph.h"
#include "cuda/report.h"
#include "cuda/streams.h"

namespace hb::cuda {
namespace {

struct Known {
  std::once_flag read;
  cudaDeviceProp record{};
  CudaProperties properties;
};

void read_properties(Known& known, DeviceIndex device) {
  cudaDeviceProp& r = known.record;
  check(cudaGetDeviceProperties(&r, device), "getDeviceProperties");
  CudaProperties& p = known.properties;
  p.name = r.name;
  p.total_memory = r.totalGlobalMem;
  p.shared_memory_per_block = r.sharedMemPerBlock;
  p.shared_memory_per_block_optin = r.sharedMemPerBlockOptin;
  p.shared_memory_per_multiprocessor = r.sharedMemPerMultiprocessor;
  p.major = r.major, p.minor = r.minor;
  p.multiprocessors = r.multiProcessorCount;
  p.warp_size = r.warpSize, p.registers_per_block = r.regsPerBlock;
  p.max_threads_per_block = r.maxThreadsPerBlock;
  p.max_threads_per_multiprocessor = r.maxThreadsPerMultiProcessor;
  p.l2_cache_bytes = r.l2CacheSize;
  for (int d = 0; d < 3; ++d) p.max_threads[d] = r.maxThreadsDim[d], p.max_grid[d] = r.maxGridSize[d];
  p.record = &known.record, p.record_bytes = sizeof known.record;
}

class Api final : public CudaApi {
 public:
  const CudaProperties& properties(DeviceIndex device) override {
    static auto* const all = new std::deque<Known>(device_count());
    Known& known = (*all)[static_cast<size_t>(device)];
    std::call_once(known.read, [&] { read_properties(known, device); });
    return known.properties;
  }
  bool can_access_peer(DeviceIndex device, DeviceIndex peer) override {
    int can = 0;
    check(cudaDeviceCanAccessPeer(&can, device, peer), "canDeviceAccessPeer");
    return can != 0;
  }
  bool cudnn_available() override { return cudnn().found(); }
  std::string error_text(int code) override {
    const std::string text = cudaGetErrorString(static_cast<cudaError_t>(code));
    cudaGetLastError();
    return text;
  }

  CudaStreamId stream_from_pool(int priority, DeviceIndex device) override {
    return cuda::stream_from_pool(priority, device);
  }
  CudaStreamId stream_from_handle(void* stream, DeviceIndex device) override {
    return cuda::stream_from_handle(static_cast<cudaStream_t>(stream), device);
  }
  CudaStreamId current_stream(DeviceIndex device) override { return current_stream_id(device); }
  void set_current_stream(CudaStreamId id, DeviceIndex device) override {
    pending::finish();
    set_current_stream_id(id, device);
  }
  void* stream_handle(CudaStreamId id, DeviceIndex device) override {
    pending::finish();  // the program may launch kernels of its own
    return cuda::stream_handle(id, device);
  }
  bool stream_is_done(CudaStreamId id, DeviceIndex device) override {
    pending::finish();
    const OnDevice guard(device);
    return is_done(cudaStreamQuery(cuda::stream_handle(id, device)), "query");
  }
  void wait_for_stream(CudaStreamId id, DeviceIndex device) override {
    pending::finish();
    const OnDevice guard(device);
    wait_for(cuda::stream_handle(id, device));
  }
  int stream_priority(CudaStreamId id, DeviceIndex) override { return cuda::stream_priority(id); }
  std::pair<int, int> priority_range() override { return {0, -1}; }
  void copy_and_wait(void* to, const void* from, size_t bytes, int kind, void* stream) override {
    pending::finish();
    const auto in = static_cast<cudaStream_t>(stream);
    check(cudaMemcpyAsync(to, from, bytes, static_cast<cudaMemcpyKind>(kind), in), "memcpy_and_sync");
    wait_for(in);
  }
  void wait_for_handle(void* stream) override {
    pending::finish();
    wait_for(static_cast<cudaStream_t>(stream));
  }
  bool is_capturing(CudaStreamId id, DeviceIndex device) override {
    if (id == 0) return false;  // the default stream cannot be recorded
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(cuda::stream_handle(id, device), &status), "CUDAGraph");
    return status == cudaStreamCaptureStatusActive;
  }

  void* make_event(unsigned flags, DeviceIndex device) override {
    const OnDevice guard(device);
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, flags), "CUDAEvent");
    return event;
  }
  void destroy_event(void* event, DeviceIndex) noexcept override { cudaEventDestroy(static_cast<cudaEvent_t>(event)); }
  void record_event(void* event, CudaStreamId id, DeviceIndex device) override {
    pending::finish();
    const OnDevice guard(device);
    check(cudaEventRecord(static_cast<cudaEvent_t>(event), cuda::stream_handle(id, device)), "CUDAEvent");
  }
  void stream_waits_for(void* event, CudaStreamId id, DeviceIndex device) override {
    pending::finish();
    const OnDevice guard(device);
    check(cudaStreamWaitEvent(cuda::stream_handle(id, device), static_cast<cudaEvent_t>(event), 0), "CUDAEvent");
  }
  bool event_is_done(void* event, DeviceIndex) override {
    return is_done(cudaEventQuery(static_cast<cudaEvent_t>(event)), "CUDAEvent");
  }
  void wait_for_event(void* event, DeviceIndex) override {
    check(cudaEventSynchronize(static_cast<cudaEvent_t>(event)), "CUDAEvent");
    throw_reports();
  }
  float time_between(void* from, void* to, DeviceIndex) override {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(from), static_cast<cudaEvent_t>(to)),
          "CUDAEvent");
    return milliseconds;
  }

  void* raw_allocate(size_t bytes, CudaStreamId id, DeviceIndex device) override {
    return allocate(bytes, cuda::stream_handle(id, device), device).memory;
  }
  void raw_free(void* memory) override {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, memory), "raw_delete");
    free_block(memory, static_cast<DeviceIndex>(attributes.device));
  }
  void record_stream(const void* memory, CudaStreamId id, DeviceIndex device) override {
    cuda::record_stream(memory, cuda::stream_handle(id, device), device);
  }
  void empty_cache() override { cuda::empty_cache(); }
  memory_stats::DeviceStats statistics(DeviceIndex device) override { return cuda::statistics(device); }
  void reset_accumulated_statistics(DeviceIndex device) override { cuda::reset_accumulated_statistics(device); }
  void reset_peak_statistics(DeviceIndex device) override { cuda::reset_peak_statistics(device); }
  void set_memory_fraction(double fraction, DeviceIndex device) override {
    cuda::set_memory_fraction(fraction, device);
  }
  double memory_fraction(DeviceIndex device) override { return cuda::memory_fraction(device); }
  void* allocate_pinned(size_t bytes) override { return cuda::allocate_pinned(bytes); }
  void free_pinned(void* memory) noexcept override { cuda::free_pinned(memory); }
  bool is_pinned(const void* memory) override { return cuda::is_pinned(memory); }
  std::pair<size_t, size_t> memory_info(DeviceIndex device) override {
    const OnDevice guard(device);
    size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "memory_info");
    return {free, total};
  }

  CudaGraphApi::Pool make_graph_pool() override { return cuda::make_graph_pool(); }
  std::unique_ptr<CudaGraphApi> make_graph(bool keep_graph) override { return std::make_unique<Graph>(keep_graph); }

 private:
  static bool is_done(cudaError_t code, const char* what) {
    if (code == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    check(code, what);
    return true;
  }
};

}  // namespace

void provide_api() { register_cuda_api(new Api); }

}  // namespace hb::cuda
