#pragma once

#include <cstddef>

namespace hb::detail {

/// A sanitizer must see every access outside of a block and after its end: then blocks are as large as was asked for,
/// and none is kept.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kKeepsBlocks = false;
#else
inline constexpr bool kKeepsBlocks = true;
#endif

struct Block {
  void* memory;
  size_t bytes;
};
/// At least `bytes`, 64-byte aligned; null memory where there is none. Freed blocks are kept for reuse: small ones per
/// thread, large ones as far as the process needed so much within the last half minute, or within the seconds that
/// HALFBRIDGE_KEEP_SECONDS says, so that a training step does not go to the system.
Block allocate_block(size_t bytes);
void free_block(Block block);
/// Throws the error of memory that there is not.
[[noreturn]] void fail_out_of_memory(size_t bytes);

size_t host_memory_in_use();
size_t host_peak_memory();
void reset_host_peak_memory();

}  // namespace hb::detail
