#pragma once

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// out[i] = start + i * step, for a contiguous 1-d tensor.
HB_API inline Kernel<void(Tensor& out, const Scalar& start, const Scalar& step)> arange_kernel{"arange"};
/// Evenly spaced from start to end, both included.
HB_API inline Kernel<void(Tensor& out, double start, double end)> linspace_kernel{"linspace"};

}  // namespace hb
