#pragma once
// Random arguments, the same in both builds: they depend on a seed alone, not on a library's generator.
#include <torch/torch.h>

#include <cstdint>
#include <random>

#include "calls.h"

namespace random_calls {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  /// From low to high, both included. The distributions of <random> differ from one standard library to the next.
  int64_t between(int64_t low, int64_t high) { return low + static_cast<int64_t>(engine_() % (high - low + 1)); }
  bool one_of(int64_t n) { return between(1, n) == 1; }

 private:
  std::mt19937_64 engine_;
};

struct Arguments {
  Tensor x, y;
  Parameters p;
};
Arguments random_arguments(Random& random);

}  // namespace random_calls
