#include <algorithm>

#include <halfbridge/error.h>
#include <halfbridge/generator.h>

#include "cpu/random_kernels.h"

namespace hb {

void Mt19937::reseed(uint64_t seed) {
  seed_ = seed;
  fresh_ = true;
  next_ = kStateSize;
  state_[0] = static_cast<uint32_t>(seed);
  for (uint32_t i = 1; i < kStateSize; ++i) state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
}

void Mt19937::refill() {
  cpu::random_kernels().twister_refill(state_.data());
  next_ = 0;
  fresh_ = false;
}

void Mt19937::fill(uint32_t* out, int64_t n) {
  while (n > 0) {
    if (next_ == kStateSize) refill();
    const auto count = std::min<int64_t>(n, kStateSize - next_);
    cpu::random_kernels().twister_temper(state_.data() + next_, count, out);
    next_ += static_cast<int>(count);
    out += count;
    n -= count;
  }
}

void Mt19937::restore(uint64_t seed, const std::array<uint32_t, kStateSize>& words, int position, bool fresh) {
  HB_CHECK(position >= 0 && position <= kStateSize, "[set_state] expected a position of at most ", int{kStateSize},
           ", got ", position);
  seed_ = seed;
  state_ = words;
  next_ = position;
  fresh_ = fresh;
}

}  // namespace hb
