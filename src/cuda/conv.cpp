// Convolutions by cuDNN. Tensors are channels-last, weights and their gradients too.
#include "backend/conv.h"

#include "backend/gemm.h"
#include "cuda/conv_plan.h"
#include "cuda/register.h"
#include "cuda/scratch.h"

namespace hb::cuda {
namespace {

/// 1 and 0, in the type that cuDNN wants.
struct Factors {
  double wide[2] = {1, 0};
  float narrow[2] = {1, 0};
  bool is_wide;
  explicit Factors(const Tensor& t) : is_wide(t.scalar_type() == kDouble) {}
  const void* one() const { return is_wide ? static_cast<const void*>(&wide[0]) : &narrow[0]; }
  const void* zero() const { return is_wide ? static_cast<const void*>(&wide[1]) : &narrow[1]; }
};

int64_t rows_of(const Tensor& t) { return t.numel() / t.size(1); }

void forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  const ConvPlan& plan = conv_plan(ConvDirection::forward, x, weight, y, p);
  const Scratch<char> workspace(static_cast<int64_t>(plan.workspace));
  const Factors factors(x);
  HB_CUDNN(cudnnConvolutionForward, cudnn_handle(), factors.one(), plan.x, x.impl().raw_data(), plan.w,
           weight.impl().raw_data(), plan.convolution, static_cast<cudnnConvolutionFwdAlgo_t>(plan.algorithm),
           workspace.get(), plan.workspace, factors.zero(), plan.y, y.impl().raw_data());
  if (bias.defined())
    add_bias_kernel(y.device())(y.scalar_type(), rows_of(y), y.size(1), y.impl().raw_data(), bias.impl().raw_data());
}

void backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p) {
  const ConvPlan& plan = conv_plan(ConvDirection::data, grad_x, weight, grad_y, p);
  const Scratch<char> workspace(static_cast<int64_t>(plan.workspace));
  const Factors factors(grad_x);
  HB_CUDNN(cudnnConvolutionBackwardData, cudnn_handle(), factors.one(), plan.w, weight.impl().raw_data(), plan.y,
           grad_y.impl().raw_data(), plan.convolution, static_cast<cudnnConvolutionBwdDataAlgo_t>(plan.algorithm),
           workspace.get(), plan.workspace, factors.zero(), plan.x, grad_x.impl().raw_data());
}

void backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x, const Tensor& grad_y,
                     const ConvParams& p) {
  const ConvPlan& plan = conv_plan(ConvDirection::weight, x, grad_weight, grad_y, p);
  const Scratch<char> workspace(static_cast<int64_t>(plan.workspace));
  const Factors factors(x);
  HB_CUDNN(cudnnConvolutionBackwardFilter, cudnn_handle(), factors.one(), plan.x, x.impl().raw_data(), plan.y,
           grad_y.impl().raw_data(), plan.convolution, static_cast<cudnnConvolutionBwdFilterAlgo_t>(plan.algorithm),
           workspace.get(), plan.workspace, factors.zero(), plan.w, grad_weight.impl().raw_data());
  if (grad_bias.defined())
    column_sum_kernel(x.device())(grad_y.scalar_type(), grad_bias.impl().raw_data(), grad_y.impl().raw_data(),
                                  rows_of(grad_y), grad_y.size(1), grad_y.size(1));
}
HB_REGISTER_CUDA(conv_forward_kernel, forward);
HB_REGISTER_CUDA(conv_backward_data_kernel, backward_data);
HB_REGISTER_CUDA(conv_backward_weight_kernel, backward_weight);

}  // namespace
}  // namespace hb::cuda
