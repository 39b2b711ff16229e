#pragma once

#include "backend/elementwise.h"

namespace hb {

/// log_sigmoid and its slope, by which the gradient multiplies: loop of two outputs and one input.
HB_API inline Kernel<void(const Loop& loop)> log_sigmoid_slope_kernel{"log_sigmoid"};

}  // namespace hb
