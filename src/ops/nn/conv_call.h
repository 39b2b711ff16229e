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

/// A transposed convolution whose output padding is a stride or more. No kernel computes one: their results have no
/// rows that the kernel's last position does not reach. It is a part of the whole result, padded.
bool pads_a_stride(const ConvCall& c);
/// The one that gives the whole result: nothing cut off, nothing added.
ConvCall of_whole_result(ConvCall c);
/// What constant_pad_nd makes c's result of the whole one with, and with `back` of the gradient that of the whole.
std::vector<int64_t> padding_of_whole(const ConvCall& c, bool back = false);

}  // namespace hb::ops
