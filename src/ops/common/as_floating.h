#pragma once

#include <halfbridge/tensor.h>

#include "core/floating_default.h"

namespace hb::ops {

/// What is no floating tensor in the default dtype.
inline Tensor as_floating(const Tensor& x) { return x.is_floating_point() ? x : x.to(floating_default()); }

}  // namespace hb::ops
