#include "cpu/scratch.h"

#include <cstdlib>

#include <halfbridge/error.h>

namespace hb::cpu {

void* scratch_buffer(Scratch slot, size_t bytes) {
  struct Buffer {
    void* data = nullptr;
    size_t bytes = 0;
    ~Buffer() { std::free(data); }
  };
  thread_local Buffer buffers[static_cast<size_t>(Scratch::kCount)];
  Buffer& b = buffers[static_cast<size_t>(slot)];
  if (b.bytes < bytes) {
    std::free(b.data);
    b.bytes = 0;
    const size_t rounded = (bytes + 4095) & ~size_t{4095};
    b.data = std::aligned_alloc(64, rounded);
    HB_CHECK(b.data, "[allocate] no memory for a buffer of ", rounded, " bytes");
    b.bytes = rounded;
  }
  return b.data;
}

}  // namespace hb::cpu
