#pragma once

#include <cstdint>

#include "cuda/launch.h"

namespace hb::cuda {

#ifdef HB_DEVICE_CODE
/// The place of the first of n ascending numbers that is beyond `value`; the last place where none is.
template <class T>
__device__ int64_t first_beyond(const T* numbers, int64_t n, T value) {
  int64_t low = 0, high = n - 1;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (numbers[middle] > value)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}
#endif

}  // namespace hb::cuda
