#pragma once
// Convolutions of numbers that no kernel takes, made of convolutions of floating numbers.

#include <functional>

#include <halfbridge/tensor.h>

namespace hb::ops {

/// The convolution of floating tensors with one set of strides, paddings and so on: (x, w, bias).
using FloatingConvolution = std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)>;

/// Three real convolutions; differentiable.
Tensor complex_convolution(const Tensor& x, const Tensor& w, const Tensor& bias, const FloatingConvolution& real_one);
/// In double, which is exact; an error where sums could leave the 53 bits of its mantissa.
Tensor integer_convolution(const char* name, const Tensor& x, const Tensor& w, const Tensor& bias,
                           const FloatingConvolution& floating_one);

/// A value for each channel as it is added to results of `dims` dimensions.
Tensor channel_row(const Tensor& bias, int64_t dims);

}  // namespace hb::ops
