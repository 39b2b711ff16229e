#include "core/allocator.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <halfbridge/error.h>
#include <halfbridge/memory_limit.h>
#include <halfbridge/storage.h>

namespace hb {
namespace detail {
namespace {

constexpr size_t kSmall = 32 * 1024;
constexpr size_t kHuge = 2 * 1024 * 1024;

// Size classes: four per power of two, so at most a quarter of a block is unused, and of large ones less than a huge
// page.
size_t class_bytes(size_t bytes) {
  if (bytes <= 512) return (bytes + 63) & ~size_t{63};
  const int top = 63 - __builtin_clzl(bytes - 1);
  const size_t step = std::min(size_t{1} << (top - 2), kHuge);
  return (bytes + step - 1) & ~(step - 1);
}
size_t small_class(size_t class_bytes) {
  if (class_bytes <= 512) return class_bytes / 64;  // 1..8
  const int top = 63 - __builtin_clzl(class_bytes - 1);
  return 9 + (top - 9) * 4 + ((class_bytes - 1) >> (top - 2)) - 4;
}

// Returns null where there is no memory.
void* system_allocate(size_t bytes) {
  const size_t align = bytes >= kHuge ? kHuge : 64;
  void* p = nullptr;
  if (posix_memalign(&p, align, kKeepsBlocks ? (bytes + align - 1) / align * align : bytes) != 0) return nullptr;
  if (bytes >= kHuge) madvise(p, bytes, MADV_HUGEPAGE);
  return p;
}

struct SmallCache {
  static constexpr size_t kClasses = 40, kKeep = 48;
  // No vectors: keeping a block, which destructors do, never allocates.
  struct List {
    size_t count = 0;
    std::array<void*, kKeep> blocks;
  };
  std::array<List, kClasses> free;
  ~SmallCache();
};
// Plain pointer: still readable when tensors die after this thread's cache.
thread_local SmallCache* small_cache = nullptr;
thread_local bool small_cache_gone = false;
SmallCache::~SmallCache() {
  small_cache = nullptr, small_cache_gone = true;
  for (const List& list : free) std::for_each_n(list.blocks.begin(), list.count, std::free);
}
SmallCache* my_cache() {
  if (HB_LIKELY(small_cache != nullptr)) return small_cache;
  if (small_cache_gone) return nullptr;
  // On the heap: a program that loads this library with dlopen has little room for thread-local variables.
  thread_local const std::unique_ptr<SmallCache> cache(new (std::nothrow) SmallCache);
  return small_cache = cache.get();
}

std::atomic<size_t> in_use{0}, peak{0};
thread_local size_t most_bytes = SIZE_MAX;  // of one block, see MemoryLimit

// How long memory that the program no longer needs may stay with it.
std::chrono::duration<double> keep_time() {
  static const double seconds = [] {
    const char* text = std::getenv("HALFBRIDGE_KEEP_SECONDS");
    return text ? std::strtod(text, nullptr) : 30.;
  }();
  return std::chrono::duration<double>(seconds);
}

// The most memory in use in this window of time and the one before it. Taking a block back from the system costs far
// less than a window lasts, so forgetting what was needed before costs a program that needs it again next to nothing.
class RecentPeak {
 public:
  void see(size_t used) {
    const auto now = std::chrono::steady_clock::now();
    if (HB_UNLIKELY(now - start_ > keep_time())) start_ = now, before_ = std::exchange(here_, 0);
    here_ = std::max(here_, used);
  }
  size_t bytes() const { return std::max(before_, here_); }

 private:
  std::chrono::steady_clock::time_point start_;
  size_t before_ = 0, here_ = 0;
};

// Large blocks by size. What is in use and what is kept together stay within an eighth more than the most that was in
// use lately: a training step that repeats itself finds all its blocks again, and the process grows no further for it.
struct LargeCache {
  std::mutex mutex;
  std::map<size_t, std::vector<void*>> free;
  size_t cached = 0;
  RecentPeak most;
};
LargeCache& large_cache() {
  static LargeCache* cache = [] {  // never destroyed: tensors of static storage outlive everything
    auto* made = new LargeCache;
    // A child of fork() has one thread: no other would ever unlock it there.
    pthread_atfork([] { large_cache().mutex.lock(); }, [] { large_cache().mutex.unlock(); },
                   [] { large_cache().mutex.unlock(); });
    return made;
  }();
  return *cache;
}

void* take_large(size_t bytes) {
  LargeCache& cache = large_cache();
  std::lock_guard lock(cache.mutex);
  cache.most.see(in_use.load(std::memory_order_relaxed));
  auto it = cache.free.find(bytes);
  if (it == cache.free.end() || it->second.empty()) return nullptr;
  void* p = it->second.back();
  it->second.pop_back();
  if (it->second.empty()) cache.free.erase(it);
  cache.cached -= bytes;
  return p;
}

// Takes blocks, the largest first, until what is kept fits; the caller frees them without the lock.
std::vector<void*> take_surplus(LargeCache& cache) {
  std::vector<void*> surplus;
  const size_t most = cache.most.bytes(), used = in_use.load(std::memory_order_relaxed);
  const size_t limit = most + std::max<size_t>(most / 8, 32u << 20);
  while (cache.cached > 0 && cache.cached + used > limit) {
    auto last = std::prev(cache.free.end());
    if (!last->second.empty()) {
      surplus.push_back(last->second.back());
      last->second.pop_back();
      cache.cached -= last->first;
    }
    if (last->second.empty()) cache.free.erase(last);
  }
  return surplus;
}

void trim_large() {
  LargeCache& cache = large_cache();
  std::vector<void*> surplus;
  {
    std::lock_guard lock(cache.mutex);
    surplus = take_surplus(cache);
  }
  for (void* p : surplus) std::free(p);
}

void keep_large(Block block) {
  LargeCache& cache = large_cache();
  std::vector<void*> surplus;
  {
    std::lock_guard lock(cache.mutex);
    bool kept = false;
    try {
      cache.free[block.bytes].push_back(block.memory);
      kept = true;
      cache.cached += block.bytes;
      surplus = take_surplus(cache);
    } catch (const std::bad_alloc&) {  // a destructor is at work: it has to go on
    }
    if (!kept) std::free(block.memory);
  }
  for (void* p : surplus) std::free(p);
}

// Everything that is kept goes back to the system.
void drop_large() {
  LargeCache& cache = large_cache();
  std::map<size_t, std::vector<void*>> all;
  {
    std::lock_guard lock(cache.mutex);
    all.swap(cache.free);
    cache.cached = 0;
  }
  for (const auto& [bytes, blocks] : all)
    for (void* p : blocks) std::free(p);
}

// A block of this class, or null.
void* take_kept(size_t size) {
  if (size > kSmall) {
    void* p = take_large(size);
    if (!p) trim_large();
    return p;
  }
  SmallCache* cache = my_cache();
  if (!cache) return nullptr;
  auto& list = cache->free[small_class(size)];
  return list.count ? list.blocks[--list.count] : nullptr;
}

}  // namespace

void fail_out_of_memory(size_t bytes) {
  HB_CHECK(false, "[allocate] DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
           " bytes. Error code ", ENOMEM, " (", std::strerror(ENOMEM), ")");
  __builtin_unreachable();
}

Block allocate_block(size_t bytes) {
  if (bytes > kSmall && HB_UNLIKELY(bytes > most_bytes)) {
    HB_CHECK(false, "[allocate] expected at most ", most_bytes, " bytes here, got ", bytes);
  }
  const size_t size = class_bytes(bytes);
  const size_t now = in_use.fetch_add(size, std::memory_order_relaxed) + size;
  size_t before = peak.load(std::memory_order_relaxed);
  while (HB_UNLIKELY(now > before) && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
  if (void* p = kKeepsBlocks ? take_kept(size) : nullptr) return {p, size};
  void* p = system_allocate(kKeepsBlocks ? size : bytes);
  if (HB_UNLIKELY(!p)) {
    drop_large();
    p = system_allocate(kKeepsBlocks ? size : bytes);
  }
  if (p) return {p, size};
  in_use.fetch_sub(size, std::memory_order_relaxed);  // it was never in use
  size_t mine = now;
  if (now > before) peak.compare_exchange_strong(mine, before, std::memory_order_relaxed);
  return {nullptr, 0};
}

void free_block(Block block) {
  in_use.fetch_sub(block.bytes, std::memory_order_relaxed);
  if (!kKeepsBlocks) return std::free(block.memory);
  if (block.bytes > kSmall) return keep_large(block);
  if (SmallCache* cache = my_cache()) {
    auto& list = cache->free[small_class(block.bytes)];
    if (list.count < SmallCache::kKeep) {
      list.blocks[list.count++] = block.memory;
      return;
    }
  }
  std::free(block.memory);
}

size_t host_memory_in_use() { return in_use; }
size_t host_peak_memory() { return peak; }
void reset_host_peak_memory() { peak = in_use.load(); }

}  // namespace detail

MemoryLimit::MemoryLimit(size_t bytes) : outer_(std::exchange(detail::most_bytes, bytes)) {}
MemoryLimit::~MemoryLimit() { detail::most_bytes = outer_; }

}  // namespace hb
