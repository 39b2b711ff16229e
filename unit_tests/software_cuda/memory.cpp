#include "software_cuda/memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace software_cuda {
namespace {

constexpr size_t kReserved = size_t{64} << 30;  // of addresses; memory only where it is used
constexpr size_t kTotal = size_t{8} << 30;      // what the device is said to have
constexpr size_t kPage = 4096, kAligned = 64;
constexpr size_t kSharedMost = 256 << 10;

struct Block {
  char* pages;
  size_t pages_bytes, bytes;
  int device;
  const char* kernel = nullptr;
};

struct Arena {
  char* base;
  size_t used = 0, live_bytes = 0;
  int depth = 0;
  std::map<char*, Block> live;  // by the address that was given out
  std::set<char*> opened;       // of these
  std::unordered_map<size_t, std::vector<char*>> kept;
  std::map<char*, size_t> pinned;
  std::mutex mutex;
  Arena() {
    base = static_cast<char*>(mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (base == MAP_FAILED) std::abort();
  }
};

Arena& arena() {
  static auto* made = new Arena;  // tensors of static storage outlive everything
  return *made;
}

void protect(const Block& b, int access) {
  if (mprotect(b.pages, b.pages_bytes, access) != 0) std::abort();
}
void open_block(Arena& a, char* start, const Block& b) {
  if (a.opened.insert(start).second) protect(b, PROT_READ | PROT_WRITE);
}
void close_opened(Arena& a) {
  for (char* start : a.opened) protect(a.live.at(start), PROT_NONE);
  a.opened.clear();
}

std::map<char*, Block>::iterator find_block(Arena& a, const void* address) {
  auto* at = static_cast<char*>(const_cast<void*>(address));
  auto found = a.live.upper_bound(at);
  if (found == a.live.begin()) return a.live.end();
  --found;
  const Block& b = found->second;
  return at < b.pages + b.pages_bytes ? found : a.live.end();
}

size_t slack(const char* start, const Block& b) { return b.pages + b.pages_bytes - start - b.bytes; }

}  // namespace

void fill_garbage(void* memory, size_t bytes) {
  auto* to = static_cast<char*>(memory);
  for (; bytes >= 8; bytes -= 8, to += 8) std::memcpy(to, &kGarbage, 8);
  std::memcpy(to, &kGarbage, bytes);
}

void* allocate_device(size_t bytes, int device) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  const size_t pages_bytes = (std::max<size_t>(bytes, 1) + kPage - 1) / kPage * kPage;
  if (a.live_bytes + pages_bytes > kTotal) return nullptr;
  char* pages;
  if (auto& kept = a.kept[pages_bytes]; !kept.empty()) {
    pages = kept.back();
    kept.pop_back();
  } else {
    if (a.used + pages_bytes + 2 * kPage > kReserved) return nullptr;
    pages = a.base + a.used + kPage;
    a.used += pages_bytes + kPage;  // one page between neighbours that stays closed
  }
  char* const start = pages + (pages_bytes - bytes) / kAligned * kAligned;
  Block& b = a.live[start];
  b = {pages, pages_bytes, bytes, device};
  a.live_bytes += pages_bytes;
  open_block(a, start, b);
  fill_garbage(pages, pages_bytes);
  if (a.depth == 0) close_opened(a);
  return start;
}

bool free_device(void* memory) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  const auto found = a.live.find(static_cast<char*>(memory));
  if (found == a.live.end()) return false;
  const Block b = found->second;
  a.opened.erase(found->first);
  a.live.erase(found);
  a.live_bytes -= b.pages_bytes;
  protect(b, PROT_NONE);
  if (b.pages_bytes >= 16 * kPage) madvise(b.pages, b.pages_bytes, MADV_DONTNEED);
  a.kept[b.pages_bytes].push_back(b.pages);
  return true;
}

void open_memory(Opened which) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  if (a.depth++ == 0) watch_faults();
  if (which == Opened::all)
    for (const auto& [start, b] : a.live) open_block(a, start, b);
}

void close_memory() {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  if (--a.depth == 0) close_opened(a);
}

bool open_touched(const void* address) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  if (a.depth == 0) return false;
  auto* const at = static_cast<char*>(const_cast<void*>(address));
  // The first pages of a block may begin before what was given out.
  auto found = a.live.upper_bound(at);
  if (found == a.live.end() || at < found->second.pages) found = find_block(a, at);
  if (found == a.live.end()) return false;
  open_block(a, found->first, found->second);  // unless another thread just did
  return true;
}

BlockAt block_at(const void* address) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  const auto found = find_block(a, address);
  if (found == a.live.end()) return {};
  return {found->first, found->second.bytes};
}

bool is_device(const void* address) {
  const Arena& a = arena();
  return address >= a.base && address < a.base + kReserved;
}

int device_of(const void* address) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  const auto found = find_block(a, address);
  return found == a.live.end() ? 0 : found->second.device;
}

std::string describe(const void* address) {
  if (!is_device(address)) return "memory that is not the device's";
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  const auto* at = static_cast<const char*>(address);
  for (const auto& [start, b] : a.live) {
    if (at >= start + b.bytes && at < b.pages + b.pages_bytes + kPage)
      return std::to_string(at - start - b.bytes) + " bytes after the end of a block of " + std::to_string(b.bytes) +
             " bytes";
    if (at < start && at >= b.pages - kPage)
      return std::to_string(start - at) + " bytes before a block of " + std::to_string(b.bytes) + " bytes";
  }
  return "memory of the device that nobody has";
}

void note_kernel(const void* block, const char* name) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  if (const auto found = find_block(a, block); found != a.live.end()) found->second.kernel = name;
}

bool end_is_intact(const void* block) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  const auto found = find_block(a, block);
  if (found == a.live.end()) return true;
  if (!a.opened.count(found->first)) return true;  // nobody wrote anything
  const char* end = found->first + found->second.bytes;
  const size_t n = slack(found->first, found->second);
  for (size_t i = 0; i < n; ++i)
    if (end[i] != reinterpret_cast<const char*>(&kGarbage)[reinterpret_cast<uintptr_t>(end + i) % 8 % 2]) return false;
  return true;
}

const char* last_kernel(const void* block) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  const auto found = find_block(a, block);
  return found == a.live.end() ? nullptr : found->second.kernel;
}

size_t memory_total() { return kTotal; }
size_t memory_used() {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  return a.live_bytes;
}

char* shared_memory(size_t bytes) {
  static char* const pages = [] {
    auto* at = static_cast<char*>(
        mmap(nullptr, kSharedMost + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (at == MAP_FAILED || mprotect(at + kSharedMost, kPage, PROT_NONE) != 0) std::abort();
    return at;
  }();
  char* const start = pages + (kSharedMost - bytes) / 16 * 16;
  fill_garbage(start, pages + kSharedMost - start);
  return start;
}

void* allocate_pinned(size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, kPage, std::max<size_t>(bytes, 1)) != 0) return nullptr;
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  a.pinned[static_cast<char*>(memory)] = bytes;
  return memory;
}

bool free_pinned(void* memory) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  if (a.pinned.erase(static_cast<char*>(memory)) == 0) return false;
  std::free(memory);
  return true;
}

bool is_pinned(const void* address) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  auto* at = static_cast<char*>(const_cast<void*>(address));
  auto found = a.pinned.upper_bound(at);
  if (found == a.pinned.begin()) return false;
  --found;
  return at < found->first + found->second;
}

}  // namespace software_cuda
