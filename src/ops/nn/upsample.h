#pragma once
// What the ways of resampling share.

#include <halfbridge/tensor.h>

namespace hb::ops {

/// Fails unless `self` is (N, C, `dims` sizes) and all sizes are above 0.
void check_upsample(const char* name, const Tensor& self, IntArrayRef output, size_t dims);

/// Input elements per output element, in the precision C: by the scale that the caller gave, or by the sizes.
template <class C>
C upsample_step(int64_t in, int64_t out, std::optional<double> scale) {
  return scale && *scale > 0 ? static_cast<C>(1.0 / *scale) : static_cast<C>(in) / static_cast<C>(out);
}

}  // namespace hb::ops
