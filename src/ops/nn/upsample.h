#pragma once
// What the ways of resampling share.

#include <halfbridge/tensor.h>

namespace hb::ops {

/// Fails unless `self` is (N, C, `dims` sizes) and all sizes are above 0.
void check_upsample(const char* name, const Tensor& self, IntArrayRef output, size_t dims);

/// Weights of bytes as integers of 15 bits, and by how many bits they are too large: 2^shift times what they stand for.
std::pair<std::vector<int64_t>, int> whole_weights(const std::vector<double>& weights);
/// The bytes that sums of bytes times such weights are rounded to.
Tensor rounded_bytes(const Tensor& sum, int shift);

/// Input elements per output element, in the precision C: by the scale that the caller gave, or by the sizes.
template <class C>
C upsample_step(int64_t in, int64_t out, std::optional<double> scale) {
  return scale && *scale > 0 ? static_cast<C>(1.0 / *scale) : static_cast<C>(in) / static_cast<C>(out);
}

}  // namespace hb::ops
