#pragma once
// c10::cuda::CUDACachingAllocator.

#include <halfbridge/bridge/cuda/event.h>
#include <halfbridge/memory_stats.h>

namespace hb::bridge::cuda::caching_allocator {

using hb::memory_stats::DeviceStats;
using hb::memory_stats::Stat;
using hb::memory_stats::StatArray;
using hb::memory_stats::StatType;

/// Gives blocks that nothing uses back to the system; nothing to do where there is no device.
HB_API void emptyCache(MempoolId_t pool = {0, 0});
HB_API void* raw_alloc(size_t bytes);
HB_API void* raw_alloc_with_stream(size_t bytes, cudaStream_t stream);
HB_API void raw_delete(void* data);
/// The block is used by `stream`, too: it is not given out again before that work is done.
HB_API void recordStream(const DataPtr& data, const CUDAStream& stream);
inline Allocator* get() { return getCUDADeviceAllocator(); }
HB_API DeviceStats getDeviceStats(DeviceIndex device);
HB_API void resetAccumulatedStats(DeviceIndex device);
HB_API void resetPeakStats(DeviceIndex device);
/// The part of the device's memory that this process may use.
HB_API void setMemoryFraction(double fraction, DeviceIndex device);
HB_API double getMemoryFraction(DeviceIndex device);

}  // namespace hb::bridge::cuda::caching_allocator
