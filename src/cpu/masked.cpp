// Elements picked by a mask: their number is known only after a look at all of them. Any byte but 0 is true, as of a
// tensor of bytes viewed as one of truths.
#include <algorithm>
#include <cstring>

#include <halfbridge/ops/factories.h>

#include "backend/indexing.h"

namespace hb::cpu {
namespace {

int64_t count_true(const uint8_t* mask, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += mask[i] != 0;
  return count;
}

Tensor nonzero(const Tensor& truth) {
  const auto* mask = static_cast<const uint8_t*>(truth.impl().visible_data());
  const int64_t n = truth.numel(), dims = truth.dim(), count = count_true(mask, n);
  Tensor out = empty({count, dims}, truth.options().dtype(kLong));
  auto* to = static_cast<int64_t*>(out.impl().visible_data());
  const int64_t* const end = to + count * dims;
  const DimVector& sizes = truth.impl().sizes();
  if (count == 0 || dims == 0) return out;
  // Row by row of the last dimension; `at` counts the places of the others up.
  const int64_t length = sizes[dims - 1];
  DimVector at(static_cast<size_t>(dims), 0);
  for (int64_t row = 0; row < n; row += length) {
    for (int64_t j = 0; j < length;) {
      if (length - j >= 8) {  // eight that are false at once
        uint64_t eight;
        std::memcpy(&eight, mask + row + j, 8);
        if (eight == 0) {
          j += 8;
          continue;
        }
      }
      const int64_t stop = std::min(length, j + 8);
      for (; j < stop; ++j) {
        // Written in any case and kept where the mask says so: a branch would be guessed wrong half of the time.
        if (to == end) return out;
        for (int64_t d = 0; d + 1 < dims; ++d) to[d] = at[d];
        to[dims - 1] = j;
        to += mask[row + j] ? dims : 0;
      }
    }
    for (int64_t d = dims - 2; d >= 0 && ++at[d] == sizes[d]; --d) at[d] = 0;
  }
  return out;
}

template <class T>
void pick(T* to, const T* from, const uint8_t* mask, int64_t n, int64_t count) {
  // Written in any case and kept where the mask says so: a branch would be guessed wrong half of the time.
  const T* const end = to + count;
  for (int64_t i = 0; i < n && to != end; ++i) {
    *to = from[i];
    to += mask[i] != 0;
  }
}

Tensor masked_select(const Tensor& in, const Tensor& mask) {
  const auto* m = static_cast<const uint8_t*>(mask.impl().visible_data());
  const int64_t n = in.numel();
  const int64_t count = count_true(m, n);
  Tensor out = empty({count}, in.options());
  void *to = out.impl().visible_data(), *from = in.impl().visible_data();
  switch (in.itemsize()) {
    case 1:
      pick(static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), m, n, count);
      break;
    case 2:
      pick(static_cast<uint16_t*>(to), static_cast<const uint16_t*>(from), m, n, count);
      break;
    case 4:
      pick(static_cast<uint32_t*>(to), static_cast<const uint32_t*>(from), m, n, count);
      break;
    case 8:
      pick(static_cast<uint64_t*>(to), static_cast<const uint64_t*>(from), m, n, count);
      break;
    default:
      pick(static_cast<Complex<double>*>(to), static_cast<const Complex<double>*>(from), m, n, count);
  }
  return out;
}

template <class T>
void place(T* to, const T* from, const uint8_t* mask, int64_t n, int64_t count) {
  // Written in any case, as in pick().
  const T* const end = from + count;
  for (int64_t i = 0; i < n && from != end; ++i) {
    const T choice[2] = {to[i], *from};
    to[i] = mask[i] ? choice[1] : choice[0];
    from += mask[i] != 0;
  }
}

void masked_scatter(const Tensor& out, const Tensor& mask, const Tensor& source) {
  const auto* m = static_cast<const uint8_t*>(mask.impl().visible_data());
  const int64_t n = out.numel(), wanted = count_true(m, n);
  HB_CHECK(source.numel() >= wanted,
           "[masked_scatter] Number of elements of source < number of ones in mask: expected at least ", wanted,
           " elements, got ", source.numel());
  void *to = out.impl().visible_data(), *from = source.impl().visible_data();
  switch (out.itemsize()) {
    case 1:
      return place(static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), m, n, wanted);
    case 2:
      return place(static_cast<uint16_t*>(to), static_cast<const uint16_t*>(from), m, n, wanted);
    case 4:
      return place(static_cast<uint32_t*>(to), static_cast<const uint32_t*>(from), m, n, wanted);
    case 8:
      return place(static_cast<uint64_t*>(to), static_cast<const uint64_t*>(from), m, n, wanted);
    default:
      return place(static_cast<Complex<double>*>(to), static_cast<const Complex<double>*>(from), m, n, wanted);
  }
}

HB_REGISTER_CPU(nonzero_kernel, nonzero);
HB_REGISTER_CPU(masked_select_kernel, masked_select);
HB_REGISTER_CPU(masked_scatter_kernel, masked_scatter);

}  // namespace
}  // namespace hb::cpu
