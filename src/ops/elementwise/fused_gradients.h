#pragma once
// Gradients in one pass that are no functions of LibTorch's by name. Each is differentiable itself.

#include <halfbridge/tensor.h>

namespace hb::ops {

Tensor log_sigmoid_backward(const Tensor& g, const Tensor& x);
/// Of logit within [low, high]; `outside` is the gradient elsewhere.
Tensor logit_backward(const Tensor& g, const Tensor& x, double low, double high, double outside);

}  // namespace hb::ops
