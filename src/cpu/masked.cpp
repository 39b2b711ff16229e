// Elements picked by a mask: their number is known only after a look at all of them.
#include <halfbridge/ops/factories.h>

#include "backend/indexing.h"

namespace hb::cpu {
namespace {

int64_t count_true(const bool* mask, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += mask[i];
  return count;
}

Tensor nonzero(const Tensor& truth) {
  const auto* mask = static_cast<const bool*>(truth.impl().visible_data());
  const int64_t n = truth.numel(), dims = truth.dim(), count = count_true(mask, n);
  Tensor out = empty({count, dims}, truth.options().dtype(kLong));
  auto* to = static_cast<int64_t*>(out.impl().visible_data());
  const DimVector& sizes = truth.impl().sizes();
  for (int64_t i = 0; i < n; ++i) {
    if (!mask[i]) continue;
    int64_t rest = i;
    for (int64_t d = dims - 1; d >= 0; --d) {
      to[d] = rest % sizes[d];
      rest /= sizes[d];
    }
    to += dims;
  }
  return out;
}

template <class T>
void pick(T* to, const T* from, const bool* mask, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (mask[i]) *to++ = from[i];
}

Tensor masked_select(const Tensor& in, const Tensor& mask) {
  const auto* m = static_cast<const bool*>(mask.impl().visible_data());
  const int64_t n = in.numel();
  Tensor out = empty({count_true(m, n)}, in.options());
  void *to = out.impl().visible_data(), *from = in.impl().visible_data();
  switch (in.itemsize()) {
    case 1:
      pick(static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), m, n);
      break;
    case 2:
      pick(static_cast<uint16_t*>(to), static_cast<const uint16_t*>(from), m, n);
      break;
    case 4:
      pick(static_cast<uint32_t*>(to), static_cast<const uint32_t*>(from), m, n);
      break;
    case 8:
      pick(static_cast<uint64_t*>(to), static_cast<const uint64_t*>(from), m, n);
      break;
    default:
      pick(static_cast<Complex<double>*>(to), static_cast<const Complex<double>*>(from), m, n);
  }
  return out;
}

template <class T>
void place(T* to, const T* from, const bool* mask, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (mask[i]) to[i] = *from++;
}

void masked_scatter(const Tensor& out, const Tensor& mask, const Tensor& source) {
  const auto* m = static_cast<const bool*>(mask.impl().visible_data());
  const int64_t n = out.numel(), wanted = count_true(m, n);
  HB_CHECK(source.numel() >= wanted,
           "[masked_scatter] Number of elements of source < number of ones in mask: expected at least ", wanted,
           " elements, got ", source.numel());
  void *to = out.impl().visible_data(), *from = source.impl().visible_data();
  switch (out.itemsize()) {
    case 1:
      return place(static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), m, n);
    case 2:
      return place(static_cast<uint16_t*>(to), static_cast<const uint16_t*>(from), m, n);
    case 4:
      return place(static_cast<uint32_t*>(to), static_cast<const uint32_t*>(from), m, n);
    case 8:
      return place(static_cast<uint64_t*>(to), static_cast<const uint64_t*>(from), m, n);
    default:
      return place(static_cast<Complex<double>*>(to), static_cast<const Complex<double>*>(from), m, n);
  }
}

HB_REGISTER_CPU(nonzero_kernel, nonzero);
HB_REGISTER_CPU(masked_select_kernel, masked_select);
HB_REGISTER_CPU(masked_scatter_kernel, masked_scatter);

}  // namespace
}  // namespace hb::cpu
