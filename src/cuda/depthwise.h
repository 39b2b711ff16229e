#pragma once

#include "backend/conv.h"

namespace hb::cuda {

/// Whether each result of a convolution comes from one channel of several: too little work for a product of matrices.
bool is_depthwise(const Tensor& x, const Tensor& weight, const ConvParams& p);
/// As conv_forward_kernel and conv_backward_data_kernel.
void depthwise(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvParams& p);
void depthwise_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p);

}  // namespace hb::cuda
