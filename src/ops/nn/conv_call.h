#pragma once
// The arguments of a convolution, their checks, and the sizes of its result.

#include <halfbridge/tensor.h>

#include "backend/conv.h"

namespace hb::ops {

struct ConvCall {
  ConvParams p;
  bool transposed = false;
  int64_t output_padding[3] = {0, 0, 0};
};

/// Each list holds one value or one per dimension.
ConvCall conv_call(const char* name, int dims, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                   bool transposed, IntArrayRef output_padding, int64_t groups);
/// Throws [name] for dtypes and shapes that do not fit; x is batched.
void check_convolution(const char* name, const Tensor& x, const Tensor& w, const Tensor& bias, const ConvCall& c);
/// Of the result; throws [name] where it would be empty.
DimVector convolution_sizes(const char* name, const Tensor& x, const Tensor& w, const ConvCall& c);

}  // namespace hb::ops
