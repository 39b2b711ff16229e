#pragma once
// Gradients in one pass that are no functions of LibTorch's by name, each differentiable itself; and log_sigmoid with
// the slope that its gradient keeps.

#include <halfbridge/tensor.h>

namespace hb::ops {

Tensor log_sigmoid_backward(const Tensor& g, const Tensor& x);
/// log_sigmoid(x), recorded; its gradient is a product with the slope, which is kept. Of f16 it is not: its range is
/// too small for the slopes of x > 17.
Tensor log_sigmoid_with_slope(const Tensor& x);
inline bool keeps_slope(ScalarType t) { return t == kFloat || t == kDouble || t == kBFloat16; }
/// Of logit within [low, high]; `outside` is the gradient elsewhere.
Tensor logit_backward(const Tensor& g, const Tensor& x, double low, double high, double outside);

}  // namespace hb::ops
