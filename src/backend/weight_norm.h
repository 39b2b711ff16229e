#pragma once

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// Gradients of w = v g / |v|, rows of v (n, m) apart, from those of w; g, the norms |v| and grad_g are (n). f32 or
/// f64, contiguous.
HB_API inline Kernel<void(const Tensor& grad_v, const Tensor& grad_g, const Tensor& grad, const Tensor& v,
                          const Tensor& g, const Tensor& norms)>
    weight_norm_backward_kernel{"weight_norm_backward"};

}  // namespace hb
