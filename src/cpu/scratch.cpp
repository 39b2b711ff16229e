#include "cpu/scratch.h"

#include <array>
#include <cstdlib>

#include "core/allocator.h"
#include "core/thread_object.h"

namespace hb::cpu {

void* scratch_buffer(Scratch slot, size_t bytes) {
  struct Buffer {
    void* data = nullptr;
    size_t bytes = 0;
    ~Buffer() { std::free(data); }
  };
  using Buffers = std::array<Buffer, static_cast<size_t>(Scratch::kCount)>;
  Buffer& b = detail::thread_object<Buffers>()[static_cast<size_t>(slot)];
  if (detail::kKeepsBlocks ? b.bytes < bytes : b.bytes != bytes) {
    std::free(b.data);
    b = {};
    const size_t size = detail::kKeepsBlocks ? (bytes + 4095) & ~size_t{4095} : bytes;
    if (posix_memalign(&b.data, 64, size) != 0) {
      b.data = nullptr;  // not what the function may have left there
      detail::fail_out_of_memory(size);
    }
    b.bytes = size;
  }
  return b.data;
}

}  // namespace hb::cpu
