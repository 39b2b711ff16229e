#include <halfbridge/error.h>
#include <halfbridge/generator.h>

namespace hb {

void Mt19937::reseed(uint64_t seed) {
  seed_ = seed;
  fresh_ = true;
  next_ = kStateSize;
  state_[0] = static_cast<uint32_t>(seed);
  for (uint32_t i = 1; i < kStateSize; ++i) state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
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
