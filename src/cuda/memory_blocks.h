#pragma once
// Blocks of device memory: segments that CUDA gave, split for smaller requests and joined again.

#include <functional>
#include <set>
#include <vector>

#include "cuda/runtime.h"

namespace hb::cuda {

/// Sizes are multiples of this.
constexpr size_t kRounding = 512;
/// Requests of at most this many bytes are small; they have segments of their own.
constexpr size_t kSmall = size_t{1} << 20;

struct Pool;

struct Block {
  Block(void* at, size_t size, cudaStream_t of, bool is_small, Pool* from)
      : memory(static_cast<char*>(at)), bytes(size), stream(of), small(is_small), pool(from) {}
  char* memory;
  size_t bytes, requested = 0;
  cudaStream_t stream;
  bool small, used = false;
  Pool* pool;
  Block *before = nullptr, *after = nullptr;  // neighbours in the segment
  std::vector<cudaStream_t> users;            // other streams
  int waits = 0;                              // events before it is free

  /// Leaves it `size` bytes; what remains becomes a free block of its pool.
  void split(size_t size);
};

/// Blocks that nobody uses: those of graphs are kept apart, as each launch writes to them.
struct Pool {
  /// The smallest block of a stream that has `size` bytes; null if there is none.
  Block* take(size_t size, cudaStream_t stream, bool small);
  /// A block that is free now joins its free neighbours.
  void keep(Block* block);
  /// Calls drop(block) for whole segments, that is, blocks without neighbours, which are gone then.
  void drop_segments(const std::function<void(const Block&)>& drop);

  int holders = 0;  // graphs

 private:
  friend struct Block;
  struct BySize {
    bool operator()(const Block* a, const Block* b) const;
  };
  using Free = std::set<Block*, BySize>;
  Free& free_like(const Block& block) { return free_[block.small ? 0 : 1]; }
  Free free_[2];
};

}  // namespace hb::cuda
