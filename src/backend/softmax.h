#pragma once

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// A contiguous tensor seen as (outer, n, inner); the function runs along n.
struct SoftmaxShape {
  int64_t outer, n, inner;
};
HB_NO_OPERANDS(SoftmaxShape)
/// softmax, or its logarithm, computed in float for half types.
HB_API inline Kernel<void(ScalarType dtype, const SoftmaxShape& shape, bool log, void* out, const void* in)>
    softmax_kernel{"softmax"};
/// Gradient of the input from that of the result and the result.
HB_API inline Kernel<void(ScalarType dtype, const SoftmaxShape& shape, bool log, void* grad_in, const void* grad,
                          const void* out)>
    softmax_backward_kernel{"softmax_backward"};

}  // namespace hb
