#pragma once
// Tensors in memory that other processes of the host can map: a sum of them copies nothing into slots and out again.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include <halfbridge/tensor.h>

namespace hb::distributed::shm {

/// Where memory is, for another process: a file of this one. `region` is 0 for memory that others cannot map, and never
/// twice the same number in a process. `address` is this process's.
struct Place {
  int32_t process = 0, file = -1;
  uint64_t region = 0, offset = 0, address = 0;
};

/// A tensor (size) in memory of its own that others can map. A child of fork() shares its values with this process.
Tensor allocate_shared(int64_t size, const TensorOptions& options);
/// The place of `bytes` of memory; in a file if a tensor of allocate_shared holds them.
Place place_of(const void* data, size_t bytes);

/// Other processes' regions as this one sees them. The newest are kept mapped.
class Views {
 public:
  /// Throws DistBackendError where the system refuses.
  unsigned char* at(const Place& place, size_t bytes);

 private:
  struct View {
    View(const Place& place);
    ~View();
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    unsigned char* base;
    size_t bytes;
    uint64_t used = 0;
  };
  std::map<std::pair<int32_t, uint64_t>, std::unique_ptr<View>> views_;
  uint64_t uses_ = 0;
};

}  // namespace hb::distributed::shm
