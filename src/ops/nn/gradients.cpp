// Gradients that are asked for by name: of softmax, activations and distances.
#include <halfbridge/ops/gradients.h>

#include <halfbridge/error.h>

#include "ops/elementwise/fused_gradients.h"
#include "ops/nn/gradient_of.h"

namespace hb {

using ops::gradient_of;

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

Tensor elu_backward(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                    bool is_result, const Tensor& self_or_result) {
  if (!is_result)
    return gradient_of("EluBackwardBackward0", grad_output, self_or_result,
                       [&](const Tensor& x) { return elu(x, alpha, scale, input_scale); });
  HB_CHECK(alpha.toDouble() >= 0,
           "[elu_backward] In-place elu backward calculation is triggered with a negative slope "
           "which is not supported, got alpha ",
           alpha.toDouble());
  const Tensor& y = self_or_result;  // scale * alpha * (exp(input_scale * x) - 1) below 0
  const Tensor below = (y + scale.toDouble() * alpha.toDouble()) * input_scale;
  return grad_output * where(y <= 0, below, zeros_like(y) + scale);
}
Tensor softplus_backward(const Tensor& grad_output, const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  return gradient_of("SoftplusBackwardBackward0", grad_output, self,
                     [&](const Tensor& x) { return softplus(x, beta, threshold); });
}
Tensor hardtanh_backward(const Tensor& grad_output, const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  return gradient_of("HardtanhBackwardBackward0", grad_output, self,
                     [&](const Tensor& x) { return hardtanh(x, min_val, max_val); });
}
Tensor softshrink_backward(const Tensor& grad_output, const Tensor& self, const Scalar& lambd) {
  return gradient_of("SoftshrinkBackwardBackward0", grad_output, self,
                     [&](const Tensor& x) { return softshrink(x, lambd); });
}
Tensor hardshrink_backward(const Tensor& grad_out, const Tensor& self, const Scalar& lambd) {
  return gradient_of("HardshrinkBackwardBackward0", grad_out, self,
                     [&](const Tensor& x) { return hardshrink(x, lambd); });
}
Tensor glu_backward(const Tensor& grad_output, const Tensor& self, int64_t dim) {
  return gradient_of("GluBackwardBackward0", grad_output, self, [&](const Tensor& x) { return glu(x, dim); });
}
Tensor logit_backward(const Tensor& grad_output, const Tensor& self, std::optional<double> eps) {
  return gradient_of("LogitBackwardBackward0", grad_output, self, [&](const Tensor& x) { return logit(x, eps); });
}
Tensor native_dropout_backward(const Tensor& grad_output, const Tensor& mask, double scale) {
  return grad_output * mask * scale;
}

TensorTuple2 log_sigmoid_forward(const Tensor& self) { return {log_sigmoid(self), exp(neg(abs(self.detach())))}; }
Tensor log_sigmoid_backward(const Tensor& grad_output, const Tensor& self, const Tensor& /*buffer*/) {
  return ops::log_sigmoid_backward(grad_output, self);
}
Tensor rrelu_with_noise_backward(const Tensor& grad_output, const Tensor& self, const Tensor& noise,
                                 const Scalar& lower, const Scalar& upper, bool training, bool self_is_result) {
  const double low = lower.toDouble(), high = upper.toDouble();
  if (training && high - low > 1e-6) return grad_output * noise;
  return leaky_relu_backward(grad_output, self, (low + high) / 2, self_is_result);
}
Tensor infinitely_differentiable_gelu_backward(const Tensor& grad, const Tensor& self) {
  return gelu_backward(grad, self);
}

Tensor _cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  return cdist(x1, x2, p, compute_mode);
}
Tensor _cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& /*cdist*/) {
  constexpr int64_t without_products = 2;
  return gradient_of("CdistBackwardBackward0", grad, x1,
                     [&](const Tensor& x) { return cdist(x, x2, p, without_products); });
}
Tensor _pdist_forward(const Tensor& self, double p) { return pdist(self, p); }
Tensor _pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& /*pdist*/) {
  return gradient_of("PdistBackwardBackward0", grad, self, [&](const Tensor& x) { return pdist(x, p); });
}

}  // namespace hb
