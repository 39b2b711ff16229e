#pragma once
// Memory of the devices. Blocks belong to a stream: what is freed is given out again to work of the same stream, which
// comes after what used it.

#include <cstddef>

#include <halfbridge/device.h>
#include <halfbridge/memory_stats.h>

#include "core/cuda_api.h"
#include "cuda/runtime.h"

namespace hb::cuda {

struct Allocated {
  void* memory;
  size_t bytes;
};
/// For work of the stream. Throws "CUDA out of memory …" after one attempt with the cache given back.
Allocated allocate(size_t bytes, cudaStream_t stream, DeviceIndex device);
void free_block(void* memory, DeviceIndex device) noexcept;
/// The stream uses the block that `memory` is in, too.
void record_stream(const void* memory, cudaStream_t stream, DeviceIndex device);
/// Gives back what nobody uses.
void empty_cache();

/// A pool of memory for graphs lives while somebody holds it, and beyond that as long as its blocks are in use.
void hold_graph_pool(CudaGraphApi::Pool pool, DeviceIndex device);
void release_graph_pool(CudaGraphApi::Pool pool, DeviceIndex device);
/// Between these what this thread allocates on the device comes from the pool.
void begin_graph_pool(CudaGraphApi::Pool pool, DeviceIndex device);
void end_graph_pool(DeviceIndex device);

memory_stats::DeviceStats statistics(DeviceIndex device);
void reset_accumulated_statistics(DeviceIndex device);
void reset_peak_statistics(DeviceIndex device);
void set_memory_fraction(double fraction, DeviceIndex device);
double memory_fraction(DeviceIndex device);

/// Memory of the host that devices read and write by themselves.
void* allocate_pinned(size_t bytes);
void free_pinned(void* memory) noexcept;
bool is_pinned(const void* memory);
/// A copy that reads or writes it was queued in the stream: it is not given out again before.
void pinned_in_use(const void* memory, cudaStream_t stream);

}  // namespace hb::cuda
