#pragma once

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// Whether two dense tensors of one dtype and shape, in the same order in memory, hold equal values. Ends at the first
/// that differ; a NaN differs from all.
HB_API inline Kernel<bool(const Tensor& a, const Tensor& b)> equal_kernel{"equal"};

}  // namespace hb
