// Elements picked by a mask: their number is known only after a look at all of them. Any byte but 0 is true, as of a
// tensor of bytes viewed as one of truths.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include <halfbridge/ops/factories.h>

#include "backend/indexing.h"
#include "cpu/parallel.h"

namespace hb::cpu {
namespace {

int64_t count_true(const uint8_t* mask, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += mask[i] != 0;
  return count;
}

/// The parts of a mask that threads share, and how many truths are before each.
class MaskParts {
 public:
  MaskParts(const uint8_t* mask, int64_t n) : n_(n), parts_(threads_for(n, kGrain)), before_(parts_ + 1) {
    parallel_ranges(0, n, parts_, [&](int64_t begin, int64_t end, int part) {
      before_[part + 1] = count_true(mask + begin, end - begin);
    });
    std::partial_sum(before_.begin(), before_.end(), before_.begin());
  }
  int64_t count() const { return before_.back(); }
  /// Calls fn(begin, end, truths before them, truths up to the end).
  template <class F>
  void each(const F& fn) const {
    parallel_ranges(0, n_, parts_,
                    [&](int64_t begin, int64_t end, int part) { fn(begin, end, before_[part], before_[part + 1]); });
  }

 private:
  const int64_t n_;
  const int parts_;
  std::vector<int64_t> before_;
};

/// The places [to, end) of `count` of the truths from element `first` on, row by row of the last dimension: a row of
/// out for each dimension.
void put_places(const uint8_t* mask, const DimVector& sizes, int64_t first, int64_t* out, int64_t count, int64_t to,
                int64_t end) {
  const auto dims = static_cast<int64_t>(sizes.size());
  const int64_t length = sizes[dims - 1];
  DimVector at(sizes.size(), 0);  // counts the places of the other dimensions up
  for (int64_t d = dims - 2, rows = first / length; d >= 0; rows /= sizes[d], --d) at[d] = rows % sizes[d];
  for (int64_t j = first % length, row = first - j;; row += length, j = 0) {
    while (j < length) {
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
        if (to == end) return;
        for (int64_t d = 0; d + 1 < dims; ++d) out[d * count + to] = at[d];
        out[(dims - 1) * count + to] = j;
        to += mask[row + j] != 0;
      }
    }
    if (to == end) return;
    for (int64_t d = dims - 2; d >= 0 && ++at[d] == sizes[d]; --d) at[d] = 0;
  }
}

Tensor nonzero(const Tensor& truth) {
  const auto* mask = static_cast<const uint8_t*>(truth.impl().visible_data());
  const int64_t n = truth.numel(), dims = truth.dim();
  const DimVector& sizes = truth.impl().sizes();
  const MaskParts parts(mask, n);
  Tensor out = empty({dims, parts.count()}, truth.options().dtype(kLong));
  auto* const to = static_cast<int64_t*>(out.impl().visible_data());
  if (dims == 0) return out;
  parts.each([&](int64_t begin, int64_t, int64_t first, int64_t last) {
    if (first < last) put_places(mask, sizes, begin, to, parts.count(), first, last);
  });
  return out;
}

template <class T>
void pick(const Tensor& out, const Tensor& in, const uint8_t* mask, const MaskParts& parts) {
  const T* const from = static_cast<const T*>(in.impl().visible_data());
  parts.each([&](int64_t begin, int64_t last, int64_t first, int64_t next) {
    // Written in any case and kept where the mask says so: a branch would be guessed wrong half of the time.
    T *to = static_cast<T*>(out.impl().visible_data()) + first, *const end = to + (next - first);
    for (int64_t i = begin; i < last && to != end; ++i) {
      *to = from[i];
      to += mask[i] != 0;
    }
  });
}

Tensor masked_select(const Tensor& in, const Tensor& mask) {
  const auto* m = static_cast<const uint8_t*>(mask.impl().visible_data());
  const MaskParts parts(m, in.numel());
  Tensor out = empty({parts.count()}, in.options());
  switch (in.itemsize()) {
    case 1:
      pick<uint8_t>(out, in, m, parts);
      break;
    case 2:
      pick<uint16_t>(out, in, m, parts);
      break;
    case 4:
      pick<uint32_t>(out, in, m, parts);
      break;
    case 8:
      pick<uint64_t>(out, in, m, parts);
      break;
    default:
      pick<Complex<double>>(out, in, m, parts);
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
