#include "distributed/shm/region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>

#include <halfbridge/distributed/error.h>
#include <halfbridge/ops/factories.h>

namespace hb::distributed::shm {

namespace {

constexpr size_t kMostViews = 256;

constexpr size_t kHuge = size_t{2} << 20;  // bytes of a huge page

/// Maps a file where huge pages fit. MAP_FAILED, with errno, where the system refuses.
void* map_file(int file, size_t bytes) {
  if (bytes < kHuge) return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const size_t room = bytes + kHuge;
  void* const reserved = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return MAP_FAILED;
  auto* const first = static_cast<unsigned char*>(reserved);
  unsigned char* const at = first + (kHuge - reinterpret_cast<uintptr_t>(first) % kHuge) % kHuge;
  void* const memory = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    munmap(reserved, room);
    errno = error;
    return MAP_FAILED;
  }
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  unsigned char* const end = at + (bytes + page - 1) / page * page;
  if (at != first) munmap(first, static_cast<size_t>(at - first));
  if (end != first + room) munmap(end, static_cast<size_t>(first + room - end));
  return memory;
}

/// Shared memory gets huge pages by this call alone on most systems. Where the kernel has none to give, or does not
/// know the call (before 6.1), small ones do.
void take_huge_pages(void* memory, size_t bytes) {
#ifdef MADV_COLLAPSE
  constexpr int kCollapse = MADV_COLLAPSE;
#else
  constexpr int kCollapse = 25;
#endif
  if (bytes < kHuge) return;
  std::memset(memory, 0, bytes);  // only pages that are there are put together
  madvise(memory, bytes / kHuge * kHuge, kCollapse);
}

struct Region {
  size_t bytes;
  int file;
  uint64_t number;
};
struct Regions {
  std::mutex mutex;
  std::map<const unsigned char*, Region> all;  // by their first byte
  uint64_t last = 0;
};
// Never destroyed: tensors may end while the process does.
Regions& regions() {
  static auto& object = *new Regions;
  return object;
}

void release(void* memory) {
  Regions& r = regions();
  std::unique_lock<std::mutex> lock(r.mutex);
  const auto found = r.all.find(static_cast<const unsigned char*>(memory));
  const Region region = found->second;
  r.all.erase(found);
  lock.unlock();
  munmap(memory, region.bytes);
  close(region.file);
}

}  // namespace

Tensor allocate_shared(int64_t size, const TensorOptions& options) {
  const size_t bytes = std::max<size_t>(static_cast<size_t>(size) * element_size(options.dtype().toScalarType()), 1);
  const int file = memfd_create("halfbridge", MFD_CLOEXEC);
  void* memory = MAP_FAILED;
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0) memory = map_file(file, bytes);
  if (memory == MAP_FAILED) {
    const int error = errno;
    if (file >= 0) close(file);
    detail::fail<Error>("[allocateTensor] cannot make shared memory of ", bytes, " bytes: ", strerror(error));
  }
  take_huge_pages(memory, bytes);
  Regions& r = regions();
  {
    const std::lock_guard<std::mutex> lock(r.mutex);
    r.all[static_cast<const unsigned char*>(memory)] = {bytes, file, ++r.last};
  }
  return from_blob(memory, {size}, release, options);
}

Place place_of(const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  const Place unmapped{0, -1, 0, 0, reinterpret_cast<uint64_t>(data)};
  Regions& r = regions();
  const std::lock_guard<std::mutex> lock(r.mutex);
  auto found = r.all.upper_bound(at);
  if (found == r.all.begin()) return unmapped;
  --found;
  const auto offset = static_cast<size_t>(at - found->first);
  if (offset + bytes > found->second.bytes) return unmapped;
  return {getpid(), found->second.file, found->second.number, offset, unmapped.address};
}

Views::View::View(const Place& place) : base(nullptr), bytes(0) {
  const std::string path = "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat status {};
  if (file >= 0 && fstat(file, &status) == 0) {
    bytes = static_cast<size_t>(status.st_size);
    void* memory = map_file(file, bytes);
    if (memory != MAP_FAILED) base = static_cast<unsigned char*>(memory);
  }
  const int error = errno;
  if (file >= 0) close(file);
  if (!base)
    throw DistBackendError(
        detail::str("[shared memory] cannot map a tensor of process ", place.process, ": ", strerror(error)));
}

Views::View::~View() { munmap(base, bytes); }

unsigned char* Views::at(const Place& place, size_t bytes) {
  auto& view = views_[{place.process, place.region}];
  if (!view) {
    view = std::make_unique<View>(place);
    if (views_.size() > kMostViews)
      views_.erase(std::min_element(views_.begin(), views_.end(), [](const auto& a, const auto& b) {
        return (a.second && a.second->used ? a.second->used : ~uint64_t{0}) <
               (b.second && b.second->used ? b.second->used : ~uint64_t{0});
      }));
  }
  View& v = *views_.at({place.process, place.region});
  v.used = ++uses_;
  HB_CHECK(place.offset + bytes <= v.bytes, "[shared memory] expected ", bytes, " bytes at ", place.offset,
           " of a tensor of another process, got room for ", v.bytes);
  return v.base + place.offset;
}

}  // namespace hb::distributed::shm
