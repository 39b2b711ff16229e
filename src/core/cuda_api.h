#pragma once
// What programs ask of CUDA beyond tensors: streams, events, graphs, the allocator's statistics. The CUDA library fills
// it; the names (c10::cuda, at::cuda) stand on it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <halfbridge/device.h>
#include <halfbridge/memory_stats.h>

namespace hb {

/// A stream is its number on its device: 0 is the default one. Handles are those of CUDA's runtime (cudaStream_t,
/// cudaEvent_t, cudaGraph_t), which this header does not name.
using CudaStreamId = int64_t;

/// What is known of a device without CUDA's headers, and CUDA's own record with its size.
struct CudaProperties {
  std::string name;
  size_t total_memory = 0, shared_memory_per_block = 0, shared_memory_per_block_optin = 0;
  size_t shared_memory_per_multiprocessor = 0;
  int major = 0, minor = 0, multiprocessors = 0, warp_size = 32, registers_per_block = 0;
  int max_threads_per_block = 0, max_threads_per_multiprocessor = 0, l2_cache_bytes = 0;
  int max_threads[3] = {0, 0, 0}, max_grid[3] = {0, 0, 0};
  const void* record = nullptr;  // cudaDeviceProp
  size_t record_bytes = 0;
};

/// Work that was recorded once and is launched as one.
class HB_API CudaGraphApi {
 public:
  using Pool = std::pair<uint64_t, uint64_t>;
  virtual ~CudaGraphApi();
  /// From here the current stream's work is recorded. `pool`: whose memory it shares ({0, 0}: its own); `mode`:
  /// cudaStreamCaptureMode.
  virtual void begin(Pool pool, int mode) = 0;
  virtual void end() = 0;
  virtual void instantiate() = 0;
  virtual void replay() = 0;
  /// `again` calls the kernels of optimizers that were recorded, in their order: they do nothing but write their rules'
  /// numbers, where those differ from the last, to where the recorded ones read them.
  virtual void update(const std::function<void()>& again) = 0;
  virtual void reset() = 0;
  virtual Pool pool() const = 0;
  virtual void* raw_graph() = 0;
  virtual void* raw_executable() = 0;
  virtual void debug_dump(const std::string& path) = 0;
};

class HB_API CudaApi {
 public:
  virtual ~CudaApi();
  virtual const CudaProperties& properties(DeviceIndex device) = 0;
  virtual bool can_access_peer(DeviceIndex device, DeviceIndex peer) = 0;
  virtual bool cudnn_available() = 0;
  /// "invalid argument", say, for a code of CUDA's runtime. Clears the runtime's own record of it.
  virtual std::string error_text(int code) = 0;

  virtual CudaStreamId stream_from_pool(int priority, DeviceIndex device) = 0;
  virtual CudaStreamId stream_from_handle(void* stream, DeviceIndex device) = 0;
  /// Of this thread.
  virtual CudaStreamId current_stream(DeviceIndex device) = 0;
  virtual void set_current_stream(CudaStreamId id, DeviceIndex device) = 0;
  virtual void* stream_handle(CudaStreamId id, DeviceIndex device) = 0;
  virtual bool stream_is_done(CudaStreamId id, DeviceIndex device) = 0;
  virtual void wait_for_stream(CudaStreamId id, DeviceIndex device) = 0;
  virtual int stream_priority(CudaStreamId id, DeviceIndex device) = 0;
  /// Least and greatest.
  virtual std::pair<int, int> priority_range() = 0;
  /// Copies (kind: cudaMemcpyKind) in the order of a stream and waits for it.
  virtual void copy_and_wait(void* to, const void* from, size_t bytes, int kind, void* stream) = 0;
  virtual void wait_for_handle(void* stream) = 0;
  virtual bool is_capturing(CudaStreamId id, DeviceIndex device) = 0;

  virtual void* make_event(unsigned flags, DeviceIndex device) = 0;
  virtual void destroy_event(void* event, DeviceIndex device) noexcept = 0;
  virtual void record_event(void* event, CudaStreamId id, DeviceIndex device) = 0;
  /// The stream's next work begins after the event.
  virtual void stream_waits_for(void* event, CudaStreamId id, DeviceIndex device) = 0;
  virtual bool event_is_done(void* event, DeviceIndex device) = 0;
  virtual void wait_for_event(void* event, DeviceIndex device) = 0;
  /// Milliseconds.
  virtual float time_between(void* from, void* to, DeviceIndex device) = 0;

  /// Memory of the caching allocator for work on a stream of a device.
  virtual void* raw_allocate(size_t bytes, CudaStreamId id, DeviceIndex device) = 0;
  virtual void raw_free(void* memory) = 0;
  /// The block that `memory` points into is used by a stream's work, too.
  virtual void record_stream(const void* memory, CudaStreamId id, DeviceIndex device) = 0;
  virtual void empty_cache() = 0;
  virtual memory_stats::DeviceStats statistics(DeviceIndex device) = 0;
  virtual void reset_accumulated_statistics(DeviceIndex device) = 0;
  virtual void reset_peak_statistics(DeviceIndex device) = 0;
  virtual void set_memory_fraction(double fraction, DeviceIndex device) = 0;
  virtual double memory_fraction(DeviceIndex device) = 0;
  /// Memory of the host that devices read and write beside it.
  virtual void* allocate_pinned(size_t bytes) = 0;
  virtual void free_pinned(void* memory) noexcept = 0;
  virtual bool is_pinned(const void* memory) = 0;
  /// Free and total bytes.
  virtual std::pair<size_t, size_t> memory_info(DeviceIndex device) = 0;

  virtual CudaGraphApi::Pool make_graph_pool() = 0;
  virtual std::unique_ptr<CudaGraphApi> make_graph(bool keep_graph) = 0;
};

/// While it lives, the thread's work on a device goes to another stream.
class OnStream {
 public:
  OnStream(CudaApi& api, CudaStreamId stream, DeviceIndex device)
      : api_(api), before_(api.current_stream(device)), device_(device) {
    api.set_current_stream(stream, device);
  }
  ~OnStream() { api_.set_current_stream(before_, device_); }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;

 private:
  CudaApi& api_;
  CudaStreamId before_;
  DeviceIndex device_;
};

HB_API void register_cuda_api(CudaApi* api);
/// Null where no device of CUDA is.
HB_API CudaApi* find_cuda_api();
/// Throws "[what] No CUDA GPUs are available …" where none is.
HB_API CudaApi& cuda_api(const char* what);

}  // namespace hb
