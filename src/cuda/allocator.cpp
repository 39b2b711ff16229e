#include "cuda/allocator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <halfbridge/more_errors.h>

#include "cuda/memory_blocks.h"
#include "cuda/streams.h"

namespace hb::cuda {
namespace {

using memory_stats::DeviceStats;
using memory_stats::StatArray;

constexpr size_t kMega = size_t{1} << 20, kSmallSegment = 2 * kMega;
constexpr size_t kLargeSegment = 20 * kMega, kOwnSegment = 10 * kMega, kLargeRounding = 2 * kMega;

using PoolName = CudaGraphApi::Pool;
/// Where this thread's memory comes from while it records a graph.
struct Recorded {
  Pool* pool = nullptr;
  DeviceIndex device = -1;
};
thread_local constinit Recorded recorded;

std::string readable(size_t bytes) {
  char text[48];
  if (bytes < 1024)
    std::snprintf(text, sizeof text, "%zu bytes", bytes);
  else if (bytes < kMega)
    std::snprintf(text, sizeof text, "%.2f KiB", static_cast<double>(bytes) / 1024);
  else if (bytes < 1024 * kMega)
    std::snprintf(text, sizeof text, "%.2f MiB", static_cast<double>(bytes) / static_cast<double>(kMega));
  else
    std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / static_cast<double>(1024 * kMega));
  return text;
}

// PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync leaves the keeping of blocks to CUDA.
bool leave_to_cuda() {
  static const bool wish = [] {
    const char* text = std::getenv("PYTORCH_CUDA_ALLOC_CONF");
    return text && std::strstr(text, "backend:cudaMallocAsync");
  }();
  return wish;
}

void count(StatArray& stat, bool small, int64_t n) {
  for (const size_t kind : {size_t{0}, small ? size_t{1} : size_t{2}})
    n > 0 ? stat[kind].increase(n) : stat[kind].decrease(-n);
}

// New contents show, in tests, who reads what nobody wrote.
void spoil(void* memory, size_t bytes, cudaStream_t stream) {
#ifdef HB_SOFTWARE_CUDA
  software_cuda_fill_garbage(memory, bytes, stream);
#endif
}

class DeviceMemory {
 public:
  explicit DeviceMemory(DeviceIndex device) : device_(device) {}

  Allocated allocate(size_t bytes, cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    const OnDevice guard(device_);
    finish_waiting(false);
    const bool small = bytes <= kSmall;
    const size_t size = leave_to_cuda() ? bytes : std::max(kRounding, (bytes + kRounding - 1) / kRounding * kRounding);
    Block* block = leave_to_cuda() ? stream_ordered(size, stream) : cached(size, stream, small);
    block->used = true, block->requested = bytes;
    used_[block->memory] = block;
    count(stats_.allocation, small, 1), count(stats_.active, small, 1);
    count_bytes(*block, 1);
    if (!leave_to_cuda()) spoil(block->memory, block->bytes, stream);
    return {block->memory, block->bytes};
  }

  void free(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = used_.find(memory);
    if (found == used_.end()) return;
    Block* const block = found->second;
    used_.erase(found);
    block->used = false;
    count(stats_.allocation, block->small, -1), count(stats_.active, block->small, -1);
    count_bytes(*block, -1);
    const OnDevice guard(device_);
    if (leave_to_cuda()) return free_stream_ordered(block);
    if (recordings_ > 0 && !block->users.empty()) return deferred_.push_back(block);
    try {
      wait_for_users(block);
    } catch (const Error&) {
      cudaGetLastError();  // the device has failed: the block is not used again, and what waits next says why
    }
  }

  void wait_for_users(Block* block) {
    for (cudaStream_t user : block->users) {
      waiting_.push_back({std::make_unique<OwnedEvent>(), block});
      check(cudaEventRecord(waiting_.back().event->get(), user), "cudaEventRecord");
      ++block->waits;
    }
    block->users.clear();
    if (block->waits == 0) block->pool->keep(block);
  }

  void record_stream(const void* memory, cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    auto* at = static_cast<char*>(const_cast<void*>(memory));
    const auto found = used_.upper_bound(at);
    if (found == used_.begin()) return;
    Block& block = *std::prev(found)->second;
    if (at >= block.memory + block.bytes || stream == block.stream) return;
    if (std::find(block.users.begin(), block.users.end(), stream) == block.users.end()) block.users.push_back(stream);
  }

  void empty() {
    const std::lock_guard lock(mutex_);
    const OnDevice guard(device_);
    give_back();
  }

  void hold(const PoolName& name) {
    const std::lock_guard lock(mutex_);
    HB_CHECK(!leave_to_cuda(), "[CUDAGraph] is not supported with PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync");
    std::unique_ptr<Pool>& pool = graph_pools_[name];
    if (!pool) pool = std::make_unique<Pool>();
    ++pool->holders;
  }
  void release(const PoolName& name) {
    const std::lock_guard lock(mutex_);
    --graph_pools_.at(name)->holders;
    const OnDevice guard(device_);
    if (recordings_ == 0) give_back_graphs();
  }
  void begin(const PoolName& name) {
    const std::lock_guard lock(mutex_);
    recorded = {graph_pools_.at(name).get(), device_};
    ++recordings_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    recorded = {};
    --recordings_;
  }

  template <class F>
  auto with_stats(F&& f) {
    const std::lock_guard lock(mutex_);
    return f(stats_);
  }
  double fraction = 1;

 private:
  struct Waiting {
    std::unique_ptr<OwnedEvent> event;
    Block* block;
  };

  void count_bytes(const Block& b, int sign) {
    const auto bytes = static_cast<int64_t>(b.bytes);
    count(stats_.allocated_bytes, b.small, sign * bytes), count(stats_.active_bytes, b.small, sign * bytes);
    count(stats_.requested_bytes, b.small, sign * static_cast<int64_t>(b.requested));
  }

  Block* stream_ordered(size_t size, cudaStream_t stream) {
    void* memory = nullptr;
    const auto attempt = [&] { return cudaMallocAsync(&memory, size, stream); };
    if (attempt() != cudaSuccess) again_or_fail(size, attempt);
    return new Block(memory, size, stream, size <= kSmall, &main_);
  }
  void free_stream_ordered(Block* block) {
    for (cudaStream_t user : block->users) order(user, block->stream);
    cudaFreeAsync(block->memory, block->stream);
    delete block;
  }

  /// The smallest free block that fits, or a new segment; what is left of it becomes a free block.
  Block* cached(size_t size, cudaStream_t stream, bool small) {
    Pool& pool = recorded.pool && recorded.device == device_ ? *recorded.pool : main_;
    Block* block = pool.take(size, stream, small);
    if (!block) block = new_segment(size, stream, small, pool);
    const size_t rest = block->bytes - size;
    if (small ? rest >= kRounding : rest > kSmall) block->split(size);
    return block;
  }

  Block* new_segment(size_t size, cudaStream_t stream, bool small, Pool& pool) {
    const Unrecorded guard;
    const size_t bytes = small                ? kSmallSegment
                         : size < kOwnSegment ? kLargeSegment
                                              : (size + kLargeRounding - 1) / kLargeRounding * kLargeRounding;
    void* memory = nullptr;
    const auto attempt = [&] {
      size_t free = 0, total = 0;
      if (fraction < 1 && cudaMemGetInfo(&free, &total) == cudaSuccess &&
          static_cast<double>(reserved() + bytes) > fraction * static_cast<double>(total))
        return cudaErrorMemoryAllocation;
      return cudaMalloc(&memory, bytes);
    };
    if (attempt() != cudaSuccess) again_or_fail(size, attempt);
    count(stats_.segment, small, 1);
    count(stats_.reserved_bytes, small, static_cast<int64_t>(bytes));
    ++stats_.num_device_alloc;
    return new Block(memory, bytes, stream, small, &pool);
  }

  template <class F>
  void again_or_fail(size_t size, const F& attempt) {
    cudaGetLastError();
    ++stats_.num_alloc_retries;
    if (recordings_ == 0) {
      finish_waiting(true);
      give_back();
    }
    const cudaError_t code = attempt();
    if (code == cudaSuccess) return;
    cudaGetLastError();
    if (code != cudaErrorMemoryAllocation) fail(code, current_function());  // an earlier kernel's
    ++stats_.num_ooms;
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    const auto allocated = static_cast<size_t>(stats_.allocated_bytes[0].current);
    throw OutOfMemoryError(
        detail::str("CUDA out of memory. Tried to allocate ", readable(size), ". GPU ", int{device_},
                    " has a total capacity of ", readable(total), " of which ", readable(free),
                    " is free. Of the allocated memory ", readable(allocated), " is allocated by tensors, and ",
                    readable(reserved() - std::min(reserved(), allocated)), " is reserved but unallocated."));
  }
  size_t reserved() const { return static_cast<size_t>(stats_.reserved_bytes[0].current); }

  // Not while somebody records: events cannot be asked for then.
  void finish_waiting(bool wait) {
    if (recordings_ > 0) return;
    for (Block* block : std::exchange(deferred_, {})) wait_for_users(block);
    while (!waiting_.empty()) {
      Waiting& first = waiting_.front();
      if (wait)
        check(cudaEventSynchronize(first.event->get()), "cudaEventSynchronize");
      else if (!has_passed(first.event->get()))
        return;
      if (--first.block->waits == 0) first.block->pool->keep(first.block);
      waiting_.pop_front();
    }
  }

  /// Whole segments, that is, blocks without neighbours.
  void give_back() {
    give_back(main_);
    give_back_graphs();
  }
  void give_back_graphs() {
    for (auto& [name, pool] : graph_pools_)
      if (pool->holders == 0) give_back(*pool);
  }
  void give_back(Pool& pool) {
    const Unrecorded guard;
    pool.drop_segments([&](const Block& segment) {
      cudaFree(segment.memory);
      count(stats_.segment, segment.small, -1);
      count(stats_.reserved_bytes, segment.small, -static_cast<int64_t>(segment.bytes));
      ++stats_.num_device_free;
    });
  }

  DeviceIndex device_;
  std::mutex mutex_;
  std::map<void*, Block*> used_;
  Pool main_;
  std::map<PoolName, std::unique_ptr<Pool>> graph_pools_;  // for good: blocks in use know theirs
  int recordings_ = 0;
  std::vector<Block*> deferred_;  // freed while somebody recorded, and used by other streams
  std::deque<Waiting> waiting_;
  DeviceStats stats_;
};

DeviceMemory& memory_of(DeviceIndex device) {
  static auto* const all = [] {
    auto* made = new std::deque<DeviceMemory>;  // tensors of static storage outlive everything
    for (DeviceIndex i = 0; i < device_count(); ++i) made->emplace_back(i);
    return made;
  }();
  return (*all)[static_cast<size_t>(device)];
}

template <class F>
void for_each_stat(DeviceStats& s, const F& f) {
  for (StatArray* array : {&s.allocation, &s.segment, &s.active, &s.inactive_split, &s.allocated_bytes,
                           &s.reserved_bytes, &s.active_bytes, &s.inactive_split_bytes, &s.requested_bytes})
    for (memory_stats::Stat& stat : *array) f(stat);
}

}  // namespace

Allocated allocate(size_t bytes, cudaStream_t stream, DeviceIndex device) {
  return memory_of(device).allocate(bytes, stream);
}
void free_block(void* memory, DeviceIndex device) noexcept { memory_of(device).free(memory); }
void record_stream(const void* memory, cudaStream_t stream, DeviceIndex device) {
  memory_of(device).record_stream(memory, stream);
}
void hold_graph_pool(PoolName pool, DeviceIndex device) { memory_of(device).hold(pool); }
void release_graph_pool(PoolName pool, DeviceIndex device) { memory_of(device).release(pool); }
void begin_graph_pool(PoolName pool, DeviceIndex device) { memory_of(device).begin(pool); }
void end_graph_pool(DeviceIndex device) { memory_of(device).end(); }
void empty_cache() {
  for (DeviceIndex i = 0; i < device_count(); ++i) memory_of(i).empty();
}
DeviceStats statistics(DeviceIndex device) {
  return memory_of(device).with_stats([](DeviceStats& s) { return s; });
}
void reset_accumulated_statistics(DeviceIndex device) {
  memory_of(device).with_stats([](DeviceStats& s) {
    for_each_stat(s, [](memory_stats::Stat& stat) { stat.reset_accumulated(); });
    s.num_alloc_retries = s.num_ooms = 0;
  });
}
void reset_peak_statistics(DeviceIndex device) {
  memory_of(device).with_stats(
      [](DeviceStats& s) { for_each_stat(s, [](memory_stats::Stat& stat) { stat.reset_peak(); }); });
}
void set_memory_fraction(double fraction, DeviceIndex device) { memory_of(device).fraction = fraction; }
double memory_fraction(DeviceIndex device) { return memory_of(device).fraction; }

}  // namespace hb::cuda
