#pragma once
// What a caching allocator of device memory counts, under LibTorch's names.

#include <array>
#include <cstdint>

namespace hb::memory_stats {

struct Stat {
  int64_t current = 0, peak = 0, allocated = 0, freed = 0;
  void increase(int64_t n) {
    current += n, allocated += n;
    if (current > peak) peak = current;
  }
  void decrease(int64_t n) { current -= n, freed += n; }
  void reset_accumulated() { allocated = freed = 0; }
  void reset_peak() { peak = current; }
};
enum class StatType : uint64_t { AGGREGATE = 0, SMALL_POOL = 1, LARGE_POOL = 2, NUM_TYPES = 3 };
using StatArray = std::array<Stat, static_cast<size_t>(StatType::NUM_TYPES)>;

struct DeviceStats {
  StatArray allocation, segment, active, inactive_split;                                           // counts
  StatArray allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes, requested_bytes;  // sums
  int64_t num_alloc_retries = 0, num_ooms = 0;
  Stat oversize_allocations, oversize_segments;
  int64_t num_sync_all_streams = 0, num_device_alloc = 0, num_device_free = 0, max_split_size = 0;
};

}  // namespace hb::memory_stats
