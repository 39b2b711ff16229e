#pragma once
// Convolutions whose windows tile the input, as the patches of a vision transformer do: one product of the patches, a
// row each, with the weights. The general kernels would first turn the input channels-last, and find few channels
// there.

#include <halfbridge/tensor.h>

#include "ops/nn/conv_call.h"

namespace hb::ops {

/// Whether c is such a convolution, of operands that lie as this file takes them: contiguous, on the CPU.
bool tiles_by_patches(const Tensor& x, const Tensor& w, const ConvCall& c);

/// Whether the weights' gradient is a product too: long sums of few columns in float are slower than the general
/// kernels.
bool patches_pay_for_weights(const Tensor& x, const ConvCall& c);

/// `out`: channels-last memory.
void patch_forward(const Tensor& out, const Tensor& x, const Tensor& w, const Tensor& bias, const ConvCall& c);
/// A new contiguous tensor like x; `grad` is channels-last.
Tensor patch_input_gradient(const Tensor& grad, const Tensor& x, const Tensor& w, const ConvCall& c);
/// Fills dw, which is contiguous; db, a new tensor, where it is not null.
void patch_weight_gradient(const Tensor& dw, Tensor* db, const Tensor& grad, const Tensor& x, const ConvCall& c);

}  // namespace hb::ops
