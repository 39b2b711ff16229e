#pragma once
// Random arguments, the same in both builds: they depend on a seed alone, not on a library's generator.
#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "calls.h"

namespace random_calls {

/// Knuth's linear congruential generator (MMIX).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {
    for (int i = 0; i < 4; ++i) next();
  }
  /// From low to high, both included.
  int64_t between(int64_t low, int64_t high) { return low + static_cast<int64_t>(next() % (high - low + 1)); }
  bool one_of(int64_t n) { return between(1, n) == 1; }

 private:
  uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }
  uint64_t state_;
};

struct Arguments {
  Tensor x, y;
  Parameters p;
};
Arguments random_arguments(Random& random);

}  // namespace random_calls
