// The devices of CUDA, as the engine knows them: memory, copies, waiting.
#include <cstdlib>
#include <cstring>
#include <string>

#include <halfbridge/error.h>

#include "core/device_backend.h"
#include "core/pending.h"
#include "cuda/allocator.h"
#include "cuda/api.h"
#include "cuda/generator.h"
#include "cuda/graph.h"
#include "cuda/report.h"
#include "cuda/streams.h"

namespace hb::cuda {
namespace {

int devices = 0;
thread_local constinit const char* function = "";
/// The functions within whose kernels this thread is: kernels may call others.
constexpr int kDeepest = 8;
thread_local constinit const char* outer[kDeepest] = {};
thread_local constinit int depth = 0;

class CudaBackend final : public DeviceBackend {
 public:
  DeviceIndex count() const override { return static_cast<DeviceIndex>(devices); }
  DeviceIndex current() const override { return current_device(); }
  void set_current(DeviceIndex index) override { set_current_device(index); }

  Block allocate(size_t bytes, DeviceIndex index) override {
    const Allocated got = cuda::allocate(bytes, stream_handle(current_stream_id(index), index), index);
    return {got.memory, got.bytes};
  }
  void free(Block block, DeviceIndex index) noexcept override { free_block(block.memory, index); }
  size_t memory_in_use(DeviceIndex index) const override { return bytes_of(index).current; }
  size_t peak_memory(DeviceIndex index) const override { return bytes_of(index).peak; }
  void reset_peak_memory(DeviceIndex index) override { reset_peak_statistics(index); }

  void copy(void* to, const Device& to_device, const void* from, const Device& from_device, size_t bytes,
            bool non_blocking) override {
    pending::finish();
    if (!to_device.is_cpu() && !from_device.is_cpu() && to_device != from_device)
      return copy_between(to, to_device.index(), from, from_device.index(), bytes);
    const OnDevice guard(to_device.is_cpu() ? from_device.index() : to_device.index());
    const cudaStream_t stream = current_stream();
    if (to_device.is_cpu() || from_device.is_cpu()) Graph::expect_none();
    const bool to_host = to_device.is_cpu();
    const cudaMemcpyKind kind = to_host                ? cudaMemcpyDeviceToHost
                                : from_device.is_cpu() ? cudaMemcpyHostToDevice
                                                       : cudaMemcpyDeviceToDevice;
    check(cudaMemcpyAsync(to, from, bytes, kind, stream), "copy_");
    if (kind == cudaMemcpyDeviceToDevice) return;
    // Memory that is not pinned has been read when the call returns, and is written then, after all else.
    const void* const host = to_host ? to : from;
    if (!is_pinned(host)) {
      if (to_host) throw_reports();
      return;
    }
    pinned_in_use(host, stream);
    if (!non_blocking) wait_for(stream);
  }
  void synchronize(DeviceIndex index) override {
    pending::finish();
    const OnDevice guard(index);
    check(cudaDeviceSynchronize(), "synchronize");
    throw_reports();
  }
  const Generator& default_generator(DeviceIndex index) override { return cuda::default_generator(index); }

  void enter_kernel(const char* name, const Device& device) override {
    if (depth < kDeepest) outer[depth] = function;
    ++depth;
    function = name;
    if (HB_UNLIKELY(device.index() != current_device())) {
      before_ = current_device();
      set_current_device(device.index());
    }
  }
  void leave_kernel(const char*, const Device&) noexcept override {
    if (--depth > 0 && depth < kDeepest) function = outer[depth];  // the outermost one's name stays for what waits
    if (HB_UNLIKELY(before_ >= 0)) {
      set_current_device(before_);
      before_ = -1;
    }
  }

 private:
  struct Bytes {
    size_t current, peak;
  };
  static Bytes bytes_of(DeviceIndex index) {
    const memory_stats::Stat stat = statistics(index).allocated_bytes[0];
    return {static_cast<size_t>(stat.current), static_cast<size_t>(stat.peak)};
  }
  /// In the receiver's stream, after what the giver has queued, which waits for the copy in turn.
  static void copy_between(void* to, DeviceIndex to_index, const void* from, DeviceIndex from_index, size_t bytes) {
    const cudaStream_t giver = stream_handle(current_stream_id(from_index), from_index);
    const cudaStream_t receiver = stream_handle(current_stream_id(to_index), to_index);
    const auto in_order = [](DeviceIndex a, cudaStream_t first, DeviceIndex b, cudaStream_t then) {
      const OnDevice guard(a);
      const OwnedEvent event;
      check(cudaEventRecord(event.get(), first), "copy_");
      const OnDevice other(b);
      check(cudaStreamWaitEvent(then, event.get(), 0), "copy_");
    };
    in_order(from_index, giver, to_index, receiver);
    {
      const OnDevice guard(to_index);
      check(cudaMemcpyPeerAsync(to, to_index, from, from_index, bytes, receiver), "copy_");
    }
    in_order(to_index, receiver, from_index, giver);
  }
  static inline thread_local DeviceIndex before_ = -1;
};

/// A sentence where no device can be used.
std::string find_devices() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (driver == 0) return "there is no NVIDIA driver on this machine";
    return "the NVIDIA driver supports CUDA " + std::to_string(driver / 1000) + "." +
           std::to_string(driver % 1000 / 10) + ", which is older than what this library was built with";
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0))
    return "there is an NVIDIA driver, and no GPU that it can use (CUDA_VISIBLE_DEVICES may hide it)";
  if (error != cudaSuccess) return std::string("the NVIDIA driver reports: ") + cudaGetErrorString(error);
  devices = count;
  return {};
}

}  // namespace

bool blocking() {
  static const bool wish = [] {
    const char* text = std::getenv("CUDA_LAUNCH_BLOCKING");
    return text && *text && std::string(text) != "0";
  }();
  return wish;
}
DeviceIndex device_count() { return static_cast<DeviceIndex>(devices); }
const char* current_function() { return function; }
void after_launch(const char* name) {
  if (HB_LIKELY(!blocking()) || Graph::recorded()) return;
  check(cudaStreamSynchronize(current_stream()), name);
  throw_reports();
}

}  // namespace hb::cuda

extern "C" HB_API const char* halfbridge_open_cuda(hb::DeviceBackend** backend) {
  static const auto* const absence = new std::string(hb::cuda::find_devices());
  if (!absence->empty()) return absence->c_str();
  static auto* const made = new hb::cuda::CudaBackend;
  hb::cuda::provide_api();
  *backend = made;
  return nullptr;
}
