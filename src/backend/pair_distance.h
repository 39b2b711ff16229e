#pragma once

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// Distances of order 0, 1, 2 or infinity between each row of x (n, m) and each later row, f32 or f64, contiguous.
HB_API inline Kernel<void(const Tensor& out, const Tensor& x, double p)> pair_distance_kernel{"pdist"};
/// The gradient of x from those of the distances.
HB_API inline Kernel<void(const Tensor& grad_x, const Tensor& grad, const Tensor& x, const Tensor& distances, double p)>
    pair_distance_backward_kernel{"pdist_backward"};

}  // namespace hb
