#include "cuda/streams.h"

#include <array>
#include <atomic>
#include <mutex>

#include <halfbridge/error.h>

#include "cuda/report.h"

namespace hb::cuda {
namespace {

constexpr int kMostDevices = 64, kPool = 32, kPriorities = 2;

struct Pool {
  std::once_flag made;
  std::array<cudaStream_t, kPool> stream{};
  std::atomic<unsigned> next{0};
};
Pool& pool_of(int level, DeviceIndex device) {
  static auto* const pools = new std::array<std::array<Pool, kPriorities>, kMostDevices>;
  return (*pools)[static_cast<size_t>(device)][static_cast<size_t>(level)];
}

struct ThreadState {
  DeviceIndex device = 0;
  std::array<CudaStreamId, kMostDevices> stream{};
};
thread_local constinit ThreadState mine;

}  // namespace

DeviceIndex current_device() { return mine.device; }
void set_current_device(DeviceIndex device) {
  HB_CHECK(device >= 0 && device < device_count(), "[set_device] expected a device of 0 to ", int{device_count()} - 1,
           ", got ", int{device});
  check(cudaSetDevice(device), "set_device");
  mine.device = device;
}

CudaStreamId current_stream_id(DeviceIndex device) { return mine.stream[static_cast<size_t>(device)]; }
void set_current_stream_id(CudaStreamId id, DeviceIndex device) { mine.stream[static_cast<size_t>(device)] = id; }
cudaStream_t current_stream() {
  const CudaStreamId id = mine.stream[static_cast<size_t>(mine.device)];
  return HB_LIKELY(id == 0) ? nullptr : stream_handle(id, mine.device);
}

// Numbers of the pool: 1 + level * kPool + place.
CudaStreamId stream_from_pool(int priority, DeviceIndex device) {
  const int level = priority < 0 ? 1 : 0;
  Pool& pool = pool_of(level, device);
  std::call_once(pool.made, [&] {
    const OnDevice guard(device);
    for (cudaStream_t& stream : pool.stream)
      check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -level), "getStreamFromPool");
  });
  return 1 + level * kPool + static_cast<CudaStreamId>(pool.next++ % kPool);
}
CudaStreamId stream_from_handle(cudaStream_t stream, DeviceIndex) { return reinterpret_cast<CudaStreamId>(stream); }
cudaStream_t stream_handle(CudaStreamId id, DeviceIndex device) {
  if (id == 0) return nullptr;
  if (id > kPriorities * kPool) return reinterpret_cast<cudaStream_t>(id);
  const int level = static_cast<int>(id - 1) / kPool;
  return pool_of(level, device).stream[static_cast<size_t>((id - 1) % kPool)];
}
int stream_priority(CudaStreamId id) { return id > kPool && id <= kPriorities * kPool ? -1 : 0; }

void wait_for(cudaStream_t stream) {
  check(cudaStreamSynchronize(stream), "synchronize");
  throw_reports();
}

void order(cudaStream_t earlier, cudaStream_t later) {
  if (earlier == later) return;
  const OwnedEvent event;
  check(cudaEventRecord(event.get(), earlier), "cudaEventRecord");
  check(cudaStreamWaitEvent(later, event.get(), 0), "cudaStreamWaitEvent");
}

}  // namespace hb::cuda
