#pragma once

#include <halfbridge/accumulate_grad.h>

#include "autograd/names.h"

namespace hb {

using autodiff::AccumulateGrad;

/// Adds `update` to `sum` (which may be undefined); takes over or changes memory that nobody else holds.
void accumulate(Tensor& sum, Tensor update);

}  // namespace hb
