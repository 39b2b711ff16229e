#pragma once
// at::cuda::CUDAEvent, CUDAGraph and c10's caching allocator without a CUDA device.

#include <array>
#include <cstdint>
#include <utility>

#include <halfbridge/bridge/cuda/device.h>
#include <halfbridge/generator.h>

namespace hb::bridge::cuda {

/// An event that was never recorded is done; recording one needs a stream, which nothing gives.
class CUDAEvent {
 public:
  CUDAEvent() = default;
  explicit CUDAEvent(unsigned /*flags*/) {}
  CUDAEvent(const CUDAEvent&) = delete;
  CUDAEvent& operator=(const CUDAEvent&) = delete;
  CUDAEvent(CUDAEvent&&) noexcept = default;
  CUDAEvent& operator=(CUDAEvent&&) noexcept = default;
  operator cudaEvent_t() const { return event(); }  // NOLINT: implicit as in LibTorch
  bool isCreated() const { return false; }
  DeviceIndex device_index() const { return -1; }
  std::optional<Device> device() const { return std::nullopt; }
  cudaEvent_t event() const { return nullptr; }
  bool query() const { return true; }
  void record() { no_device("CUDAEvent"); }
  void record(const CUDAStream& /*stream*/) { no_device("CUDAEvent"); }
  void recordOnce(const CUDAStream& /*stream*/) { no_device("CUDAEvent"); }
  void block(const CUDAStream& /*stream*/) { no_device("CUDAEvent"); }
  void synchronize() const {}
  float elapsed_time(const CUDAEvent& /*other*/) const {
    HB_CHECK(false, "[CUDAEvent] Both events must be recorded before calculating elapsed time.");
    return 0;
  }
};

/// Nothing can be captured; resetting an empty graph is nothing to do.
class CUDAGraph {
 public:
  explicit CUDAGraph(bool /*keep_graph*/ = false) {}
  template <class... Args>
  void capture_begin(Args&&...) {
    no_device("CUDAGraph");
  }
  void capture_end() { no_device("CUDAGraph"); }
  void instantiate() { no_device("CUDAGraph"); }
  void replay() { no_device("CUDAGraph"); }
  void reset() {}
};

inline const Generator& getDefaultCUDAGenerator(DeviceIndex /*device*/ = -1) { no_device("getDefaultCUDAGenerator"); }
inline Generator createCUDAGenerator(DeviceIndex /*device*/ = -1) { no_device("createCUDAGenerator"); }

namespace caching_allocator {
struct Stat {
  int64_t current = 0, peak = 0, allocated = 0, freed = 0;
};
using StatArray = std::array<Stat, 3>;
enum class StatType : uint64_t { AGGREGATE = 0, SMALL_POOL = 1, LARGE_POOL = 2, NUM_TYPES = 3 };
struct DeviceStats {
  StatArray allocation, segment, active, inactive_split, allocated_bytes, reserved_bytes, active_bytes, requested_bytes;
  int64_t num_alloc_retries = 0, num_ooms = 0, max_split_size = 0;
};
/// Nothing was allocated, so there is nothing to give back.
inline void emptyCache() {}
inline void* raw_alloc(size_t /*bytes*/) { no_device("raw_alloc"); }
inline void* raw_alloc_with_stream(size_t /*bytes*/, cudaStream_t /*stream*/) { no_device("raw_alloc_with_stream"); }
inline void raw_delete(void* data) {
  if (data) no_device("raw_delete");
}
inline void recordStream(const DataPtr& /*data*/, const CUDAStream& /*stream*/) { no_device("recordStream"); }
inline Allocator* get() { return getCUDADeviceAllocator(); }
inline DeviceStats getDeviceStats(DeviceIndex /*device*/) { no_device("getDeviceStats"); }
inline void resetAccumulatedStats(DeviceIndex /*device*/) { no_device("resetAccumulatedStats"); }
inline void resetPeakStats(DeviceIndex /*device*/) { no_device("resetPeakStats"); }
inline void setMemoryFraction(double /*fraction*/, DeviceIndex /*device*/) { no_device("setMemoryFraction"); }
inline double getMemoryFraction(DeviceIndex /*device*/) { no_device("getMemoryFraction"); }
}  // namespace caching_allocator

}  // namespace hb::bridge::cuda
