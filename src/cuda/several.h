#pragma once
// Loops in which a thread has several elements under way, so that it waits for the memory once, not for each of them:
//
//   for (int64_t first = grid_thread(); first < n; first += kSeveral * grid_threads())
//     … element first + e * grid_threads() for each e below kSeveral

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

}  // namespace hb::cuda
