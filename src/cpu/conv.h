#pragma once

#include "backend/conv.h"

namespace hb::cpu {

/// f32 and bf16. False where oneDNN has no fast primitive for the case; nothing was written then.
bool onednn_conv_forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
                         const ConvParams& p);
bool onednn_conv_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p);
bool onednn_conv_backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x,
                                 const Tensor& grad_y, const ConvParams& p);

/// f32, where there are many weights and few pixels; else false, and nothing was written.
bool product_conv_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p);
bool product_conv_backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x,
                                  const Tensor& grad_y, const ConvParams& p);

/// f32 and f64 by unfolding and matrix products: any case.
struct UnfoldConv {
  void (*forward)(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvParams& p);
  void (*backward_data)(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p);
  void (*backward_weight)(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x, const Tensor& grad_y,
                          const ConvParams& p);
};
namespace v3 {
extern const UnfoldConv unfold_conv;
}
namespace v4 {
extern const UnfoldConv unfold_conv;
}

}  // namespace hb::cpu
