// The twister's bulk of work, by the widest instruction set.
#include <algorithm>

#include <halfbridge/generator.h>

#include "cpu/random_kernels.h"

namespace hb {

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

}  // namespace hb
