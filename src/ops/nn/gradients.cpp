// Gradients that are asked for by name: those of a function's own backward pass.
#include <halfbridge/ops/gradients.h>

#include <vector>

#include <halfbridge/autograd.h>
#include <halfbridge/error.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

namespace hb {
namespace {

/// What `grad` of fn(x) is for x. Differentiable again in grad and x, and in what fn reads besides.
template <class Function>
Tensor gradient_of(const Tensor& grad, const Tensor& x, const Function& fn) {
  const bool again = GradMode::is_enabled();
  AutoGradMode enabled(true);
  const Tensor input = again && x.requires_grad() ? x.view_as(x) : x.detach().requires_grad_();
  return autodiff::grad({fn(input)}, {input}, {grad}, std::nullopt, again)[0];
}
/// The same where x's values do not matter.
template <class Function>
Tensor gradient_at_zeros(const Tensor& grad, IntArrayRef sizes, const Function& fn) {
  return gradient_of(grad, zeros(sizes, grad.options()), fn);
}

/// Of a pooling that takes single elements: indices number them within the last two dimensions.
Tensor put_back(const char* name, const Tensor& grad, const Tensor& self, const Tensor& indices) {
  HB_CHECK(grad.sizes() == indices.sizes() && (self.dim() == 3 || self.dim() == 4) && grad.dim() == self.dim(), "[",
           name, "] expected grad_output and indices of one shape with the dimensions of self, got ", grad.sizes(),
           ", ", indices.sizes(), " and ", self.sizes());
  const Tensor flat = zeros_like(self).flatten(-2);
  return flat.scatter_add(-1, indices.flatten(-2), grad.flatten(-2)).view(self.sizes());
}

}  // namespace

Tensor _convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
                    IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                    int64_t groups, bool /*benchmark*/, bool /*deterministic*/, bool /*cudnn_enabled*/,
                    bool /*allow_tf32*/) {
  return convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
}

namespace {
std::optional<ScalarType> float_of_half(const char* name, const Tensor& self, bool half_to_float) {
  HB_CHECK(!half_to_float || self.scalar_type() == kHalf || self.scalar_type() == kBFloat16, "[", name,
           "] conversion is supported for Half and BFloat16 type only, got ", self.scalar_type());
  if (half_to_float) return kFloat;
  return std::nullopt;
}
}  // namespace

Tensor _softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  return softmax(self, dim, float_of_half("_softmax", self, half_to_float));
}
Tensor _log_softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  return log_softmax(self, dim, float_of_half("_log_softmax", self, half_to_float));
}
Tensor _softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype) {
  return softmax_backward(grad_output, output, dim).to(input_dtype);
}
Tensor _log_softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim,
                                  ScalarType input_dtype) {
  return log_softmax_backward(grad_output, output, dim).to(input_dtype);
}

Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction) {
  return gradient_of(grad_output, self, [&](const Tensor& x) { return mse_loss(x, target, reduction); });
}
Tensor smooth_l1_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction,
                               double beta) {
  return gradient_of(grad_output, self, [&](const Tensor& x) { return smooth_l1_loss(x, target, reduction, beta); });
}
Tensor huber_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction,
                           double delta) {
  return gradient_of(grad_output, self, [&](const Tensor& x) { return huber_loss(x, target, reduction, delta); });
}
Tensor binary_cross_entropy_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                     const std::optional<Tensor>& weight, int64_t reduction) {
  return gradient_of(grad_output, self,
                     [&](const Tensor& x) { return binary_cross_entropy(x, target, weight, reduction); });
}

Tensor elu_backward(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                    bool is_result, const Tensor& self_or_result) {
  if (!is_result)
    return gradient_of(grad_output, self_or_result, [&](const Tensor& x) { return elu(x, alpha, scale, input_scale); });
  HB_CHECK(alpha.toDouble() >= 0,
           "[elu_backward] In-place elu backward calculation is triggered with a negative slope "
           "which is not supported, got alpha ",
           alpha.toDouble());
  const Tensor& y = self_or_result;  // scale * alpha * (exp(input_scale * x) - 1) below 0
  const Tensor below = (y + scale.toDouble() * alpha.toDouble()) * input_scale;
  return grad_output * where(y <= 0, below, zeros_like(y) + scale);
}
Tensor softplus_backward(const Tensor& grad_output, const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  return gradient_of(grad_output, self, [&](const Tensor& x) { return softplus(x, beta, threshold); });
}
Tensor hardtanh_backward(const Tensor& grad_output, const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  return gradient_of(grad_output, self, [&](const Tensor& x) { return hardtanh(x, min_val, max_val); });
}
Tensor softshrink_backward(const Tensor& grad_output, const Tensor& self, const Scalar& lambd) {
  return gradient_of(grad_output, self, [&](const Tensor& x) { return softshrink(x, lambd); });
}
Tensor hardshrink_backward(const Tensor& grad_out, const Tensor& self, const Scalar& lambd) {
  return gradient_of(grad_out, self, [&](const Tensor& x) { return hardshrink(x, lambd); });
}
Tensor glu_backward(const Tensor& grad_output, const Tensor& self, int64_t dim) {
  return gradient_of(grad_output, self, [&](const Tensor& x) { return glu(x, dim); });
}
Tensor logit_backward(const Tensor& grad_output, const Tensor& self, std::optional<double> eps) {
  return gradient_of(grad_output, self, [&](const Tensor& x) { return logit(x, eps); });
}
Tensor native_dropout_backward(const Tensor& grad_output, const Tensor& mask, double scale) {
  return grad_output * mask * scale;
}

Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                                int64_t padding_idx, bool scale_grad_by_freq) {
  HB_CHECK(grad_output.dim() == indices.dim() + 1, "[embedding_dense_backward] expected a grad_output of ",
           indices.dim() + 1, " dimensions, got ", grad_output.sizes());
  return gradient_at_zeros(grad_output, {num_weights, grad_output.size(-1)}, [&](const Tensor& weight) {
    return embedding(weight, indices, padding_idx, scale_grad_by_freq);
  });
}
Tensor select_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t index) {
  return gradient_at_zeros(grad_output, input_sizes, [&](const Tensor& x) { return x.select(dim, index); });
}
Tensor slice_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t start, int64_t end,
                      int64_t step) {
  return gradient_at_zeros(grad_output, input_sizes, [&](const Tensor& x) { return x.slice(dim, start, end, step); });
}

Tensor max_pool2d_with_indices_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef /*kernel_size*/,
                                        IntArrayRef /*stride*/, IntArrayRef /*padding*/, IntArrayRef /*dilation*/,
                                        bool /*ceil_mode*/, const Tensor& indices) {
  return put_back("max_pool2d_with_indices_backward", grad_output, self, indices);
}
Tensor adaptive_max_pool2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& indices) {
  return put_back("adaptive_max_pool2d_backward", grad_output, self, indices);
}
Tensor avg_pool2d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                           IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                           std::optional<int64_t> divisor_override) {
  return gradient_of(grad_output, self, [&](const Tensor& x) {
    return avg_pool2d(x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
  });
}
Tensor _adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  return adaptive_avg_pool2d(self, output_size);
}
Tensor _adaptive_avg_pool2d_backward(const Tensor& grad_output, const Tensor& self) {
  HB_CHECK(grad_output.dim() >= 3, "[_adaptive_avg_pool2d_backward] expected a grad_output of 3 or 4 dimensions, got ",
           grad_output.sizes());
  return gradient_of(grad_output, self, [&](const Tensor& x) {
    return adaptive_avg_pool2d(x, grad_output.sizes().slice(grad_output.dim() - 2));
  });
}

Tensor upsample_nearest2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                   std::optional<double> scales_h, std::optional<double> scales_w) {
  return gradient_at_zeros(grad_output, input_size,
                           [&](const Tensor& x) { return upsample_nearest2d(x, output_size, scales_h, scales_w); });
}
Tensor upsample_bilinear2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                    bool align_corners, std::optional<double> scales_h,
                                    std::optional<double> scales_w) {
  return gradient_at_zeros(grad_output, input_size, [&](const Tensor& x) {
    return upsample_bilinear2d(x, output_size, align_corners, scales_h, scales_w);
  });
}
Tensor upsample_bicubic2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                   bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) {
  return gradient_at_zeros(grad_output, input_size, [&](const Tensor& x) {
    return upsample_bicubic2d(x, output_size, align_corners, scales_h, scales_w);
  });
}
TensorTuple2 grid_sampler_2d_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                                      int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                                      std::array<bool, 2> mask) {
  HB_CHECK(input.dim() == 4, "[grid_sampler_2d_backward] expected input of 4 dimensions, got ", input.sizes());
  const auto sample = [&](const Tensor& x, const Tensor& places) {
    return grid_sampler(x, places, interpolation_mode, padding_mode, align_corners);
  };
  Tensor dx, dgrid;
  if (mask[0]) dx = gradient_of(grad_output, input, [&](const Tensor& x) { return sample(x, grid); });
  if (mask[1]) dgrid = gradient_of(grad_output, grid, [&](const Tensor& g) { return sample(input, g); });
  return {dx, dgrid};
}

}  // namespace hb
