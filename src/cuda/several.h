#pragma once
// Loops in which a thread has several elements under way, so that it waits for the memory once, not for each of them:
//
//   const Several s(n);
//   for (int64_t first = s.first; first < n; first += s.round)
//     … element first + e * s.step for each e below kSeveral

#include <algorithm>

#include "cuda/launch.h"

namespace hb::cuda {

constexpr int kSeveral = 4;

/// Blocks for such a loop: fewer elements for each thread where there would be too few blocks for a GPU.
inline unsigned blocks_for_several(int64_t n) {
  constexpr int64_t kEnough = 2048;
  return n > kEnough * kThreads * kSeveral ? blocks_for(n, kThreads * kSeveral)
                                           : blocks_for(std::min(n, kEnough * kThreads));
}

/// A block's elements are neighbours, so that what they read of one place of the memory is in its cache; but where
/// there are no more elements than threads, each has one.
struct Several {
  int64_t first, step, round;
  __device__ explicit Several(int64_t n)
      : first(grid_thread()), step(grid_threads()), round(kSeveral * grid_threads()) {
    if (n > step) first = int64_t{blockIdx.x} * blockDim.x * kSeveral + threadIdx.x, step = blockDim.x;
  }
};

}  // namespace hb::cuda
