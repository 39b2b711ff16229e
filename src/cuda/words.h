#pragma once
// Elements that are moved and not computed with: a type of their size stands for all dtypes of that size.

#include <cstddef>
#include <cstdint>

#include "cuda/runtime.h"

namespace hb::cuda {

struct Word16 {
  uint64_t low, high;
};

/// Calls f(Word()) with the word of `size` bytes: 1, 2, 4, 8 or 16.
template <class F>
void with_word(size_t size, const F& f) {
  switch (size) {
    case 1:
      return f(uint8_t());
    case 2:
      return f(uint16_t());
    case 4:
      return f(uint32_t());
    case 8:
      return f(uint64_t());
    default:
      return f(Word16());
  }
}

/// Calls f(Word()) with the largest word of up to 16 bytes of which addresses and lengths are multiples, which `alike`
/// has put together by or.
template <class F>
void with_widest_word(uintptr_t alike, const F& f) {
  if (alike % 16 == 0) return f(uint4());
  if (alike % 8 == 0) return f(uint64_t());
  if (alike % 4 == 0) return f(uint32_t());
  if (alike % 2 == 0) return f(uint16_t());
  f(uint8_t());
}

}  // namespace hb::cuda
