#pragma once
// Resampling for which LibTorch's functions have names of its own inside.

#include <halfbridge/tensor.h>

namespace hb::ops {

/// (N, C, 1 to 3 sizes) at the elements next to where the output elements' centres fall. One scale per dimension.
Tensor upsample_nearest_exact(const Tensor& self, IntArrayRef output, ArrayRef<std::optional<double>> scales);
/// (N, C, H, W) by the triangle or (`cubic`) by Keys' cubic with a = -0.5, made wider by the ratio where it shrinks.
Tensor upsample_antialiased(const Tensor& self, IntArrayRef output, bool align_corners, bool cubic,
                            ArrayRef<std::optional<double>> scales);

}  // namespace hb::ops
