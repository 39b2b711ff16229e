#pragma once

#include <halfbridge/tensor.h>

#include "backend/reduce.h"

namespace hb {

/// Vector products of contiguous lines of three, f32 or f64, on CUDA also of half types.
HB_API inline Kernel<void(const Tensor& out, const Tensor& a, const Tensor& b, Lines)> cross_kernel{"linalg_cross"};

}  // namespace hb
