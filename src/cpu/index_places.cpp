// Index tensors: what is checked and computed of them before rows are moved.
#include <algorithm>

#include <halfbridge/ops/factories.h>

#include "backend/indexing.h"
#include "cpu/parallel.h"

namespace hb::cpu {
namespace {

void wrap_index(const Tensor& out, const Tensor& index, int64_t size, const char* name, int64_t dim) {
  const auto* from = static_cast<const int64_t*>(index.impl().raw_data());
  auto* to = static_cast<int64_t*>(out.impl().raw_data());
  const auto n = static_cast<uint64_t>(size);
  parallel_for(0, index.numel(), kGrain, [&](int64_t begin, int64_t end) {
    uint64_t signs = 0;  // what is below -size, or not below size, has a sign
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<uint64_t>(from[i]);
      signs |= (at + n) | (n - 1 - at);
      to[i] = from[i] < 0 ? static_cast<int64_t>(at + n) : from[i];
    }
    if (HB_LIKELY(!name || static_cast<int64_t>(signs) >= 0)) return;
    for (int64_t i = begin; i < end; ++i) {
      const bool fits = from[i] >= -size && from[i] < size;
      HB_CHECK_INDEX(fits || dim < 0, "[", name, "] index ", from[i], " is out of bounds for dimension ", dim,
                     " with size ", size);
      HB_CHECK_INDEX(fits, "[", name, "] out of range: tried to access index ", from[i], " on a tensor of ", size,
                     " elements.");
    }
  });
}

Tensor repeated_places(const Tensor& counts) {
  const auto* c = static_cast<const int64_t*>(counts.impl().raw_data());
  const int64_t n = counts.numel();
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) {
    HB_CHECK(c[i] >= 0, "[repeat_interleave] repeats can not be negative, got ", c[i]);
    HB_CHECK(!__builtin_add_overflow(total, c[i], &total), "[repeat_interleave] the sum of repeats overflows");
  }
  Tensor out = empty({total}, counts.options());
  auto* place = static_cast<int64_t*>(out.impl().raw_data());
  for (int64_t i = 0; i < n; ++i) place = std::fill_n(place, c[i], i);
  return out;
}

HB_REGISTER_CPU(wrap_index_kernel, wrap_index);
HB_REGISTER_CPU(repeated_places_kernel, repeated_places);

}  // namespace
}  // namespace hb::cpu
