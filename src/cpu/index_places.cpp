// Index tensors that are computed before rows are moved.
#include <algorithm>

#include <halfbridge/ops/factories.h>

#include "backend/indexing.h"

namespace hb::cpu {
namespace {

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

HB_REGISTER_CPU(repeated_places_kernel, repeated_places);

}  // namespace
}  // namespace hb::cpu
