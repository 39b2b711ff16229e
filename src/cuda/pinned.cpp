// Pinned memory of the host, kept for the next who asks, by powers of two.
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <halfbridge/error.h>

#include "cuda/allocator.h"
#include "cuda/streams.h"

namespace hb::cuda {
namespace {

struct Pinned {
  size_t bytes;
  std::vector<std::unique_ptr<OwnedEvent>> uses;  // copies that may not have happened
};

struct Cache {
  std::mutex mutex;
  std::map<char*, Pinned> used, waiting;
  std::map<size_t, std::vector<char*>> free;

  std::map<char*, Pinned>::iterator find(const void* memory) {
    auto* at = static_cast<char*>(const_cast<void*>(memory));
    auto found = used.upper_bound(at);
    if (found == used.begin()) return used.end();
    --found;
    return at < found->first + found->second.bytes ? found : used.end();
  }
  void collect() {
    for (auto at = waiting.begin(); at != waiting.end();) {
      auto& uses = at->second.uses;
      std::erase_if(uses, [](const auto& event) { return has_passed(event->get()); });
      if (!uses.empty()) {
        ++at;
        continue;
      }
      free[at->second.bytes].push_back(at->first);
      at = waiting.erase(at);
    }
  }
};
Cache& cache() {
  static auto* const made = new Cache;
  return *made;
}

}  // namespace

void* allocate_pinned(size_t bytes) {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  const Unrecorded guard;
  c.collect();
  const size_t size = std::bit_ceil(bytes < 64 ? size_t{64} : bytes);
  void* memory = nullptr;
  if (auto& kept = c.free[size]; !kept.empty()) {
    memory = kept.back();
    kept.pop_back();
  } else {
    check(cudaHostAlloc(&memory, size, cudaHostAllocPortable), "pin_memory");
  }
  c.used[static_cast<char*>(memory)] = {size, {}};
  return memory;
}

void free_pinned(void* memory) noexcept {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  const auto found = c.used.find(static_cast<char*>(memory));
  if (found == c.used.end()) return;
  c.waiting[found->first] = std::move(found->second);
  c.used.erase(found);
}

bool is_pinned(const void* memory) {
  Cache& c = cache();
  {
    const std::lock_guard lock(c.mutex);
    if (c.find(memory) != c.used.end()) return true;
  }
  cudaPointerAttributes attributes{};
  const bool known = cudaPointerGetAttributes(&attributes, memory) == cudaSuccess;
  if (!known) cudaGetLastError();
  return known && attributes.type == cudaMemoryTypeHost;
}

void pinned_in_use(const void* memory, cudaStream_t stream) {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  const auto found = c.find(memory);
  if (found == c.used.end()) return;
  found->second.uses.push_back(std::make_unique<OwnedEvent>());
  check(cudaEventRecord(found->second.uses.back()->get(), stream), "cudaEventRecord");
}

}  // namespace hb::cuda
