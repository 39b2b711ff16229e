#pragma once
// The threads ("lanes") of a block as fibers of one thread of the host. A lane runs until it ends or meets others: the
// first that has to wait leaves its fiber behind, and the next lane begins on another. So a kernel without barriers is
// a plain loop.

#include <cstddef>
#include <cstdint>

#include "software_cuda/vector_types.h"

namespace software_cuda {

/// What lanes do together.
enum class Meeting : uint8_t { block, warp, shuffle, ballot, match };

struct Geometry {
  const char* name;
  dim3 grid, block;
  size_t shared;  // bytes of dynamic shared memory
};

/// Runs all blocks of a launch, blocks and lanes in an order that `seed` draws. `body(argument)` is the kernel for one
/// lane. Returns false where a lane failed: `failure()` says how.
bool run_blocks(const Geometry& launch, void (*body)(void*), void* argument, uint64_t seed);
const char* failure();

/// Ends the running kernel with a message, from one of its lanes.
[[noreturn]] void fail_lane(const char* format, ...) __attribute__((format(printf, 1, 2)));
/// Whether this thread runs a kernel now.
bool in_kernel();
/// The name of the kernel that runs.
const char* running_kernel();

// What lanes call.
void meet_block();
/// Waits for the lanes of `mask`. Gives lane `source`'s value (shuffle), the lanes with a value other than zero
/// (ballot), or those with the same value (match).
uint64_t meet_warp(Meeting kind, unsigned mask, uint64_t value = 0, int source = 0);
unsigned lane_of_warp();
/// Counts blocks: memory that a block shares holds garbage when a new one begins.
extern uint64_t block_number;
extern char* dynamic_shared;
void fill_garbage(void* memory, size_t bytes);

/// A variable in shared memory.
template <class T>
class Shared {
 public:
  T* of_block() {
    if (block_ != block_number) {
      fill_garbage(memory_, sizeof memory_);
      block_ = block_number;
    }
    return reinterpret_cast<T*>(memory_);
  }

 private:
  uint64_t block_ = 0;
  alignas(16) char memory_[sizeof(T)];
};

}  // namespace software_cuda

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
