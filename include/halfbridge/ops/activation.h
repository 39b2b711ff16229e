#pragma once
// Activations with parameters, and the paired gradients of the fused ones.

#include <halfbridge/tensor.h>

namespace hb {

HB_API Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope = 0.01);
HB_API Tensor& leaky_relu_(Tensor& self, const Scalar& negative_slope = 0.01);
HB_API Tensor elu(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1);
HB_API Tensor& elu_(Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1);
HB_API Tensor celu(const Tensor& self, const Scalar& alpha = 1);
HB_API Tensor& celu_(Tensor& self, const Scalar& alpha = 1);
HB_API Tensor selu(const Tensor& self);
HB_API Tensor& selu_(Tensor& self);
/// approximate: "none" (erf) or "tanh".
HB_API Tensor gelu(const Tensor& self, std::string_view approximate = "none");
HB_API Tensor& gelu_(Tensor& self, std::string_view approximate = "none");
HB_API Tensor softplus(const Tensor& self, const Scalar& beta = 1, const Scalar& threshold = 20);
HB_API Tensor hardtanh(const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1);
HB_API Tensor& hardtanh_(Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1);
HB_API Tensor relu6(const Tensor& self);
HB_API Tensor& relu6_(Tensor& self);
HB_API Tensor softshrink(const Tensor& self, const Scalar& lambd = 0.5);
HB_API Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value);
HB_API Tensor& threshold_(Tensor& self, const Scalar& threshold, const Scalar& value);
HB_API Tensor rrelu(const Tensor& self, const Scalar& lower = 0.125, const Scalar& upper = 1.0 / 3,
                    bool training = false, std::optional<Generator> generator = std::nullopt);
HB_API Tensor& rrelu_(Tensor& self, const Scalar& lower = 0.125, const Scalar& upper = 1.0 / 3, bool training = false,
                      std::optional<Generator> generator = std::nullopt);
/// rrelu that writes the factor of each element into `noise` when it trains.
HB_API Tensor rrelu_with_noise(const Tensor& self, Tensor& noise, const Scalar& lower = 0.125,
                               const Scalar& upper = 1.0 / 3, bool training = false,
                               std::optional<Generator> generator = std::nullopt);
HB_API Tensor& rrelu_with_noise_(Tensor& self, Tensor& noise, const Scalar& lower = 0.125,
                                 const Scalar& upper = 1.0 / 3, bool training = false,
                                 std::optional<Generator> generator = std::nullopt);
HB_API Tensor glu(const Tensor& self, int64_t dim = -1);

HB_API Tensor tanh_backward(const Tensor& grad, const Tensor& output);
HB_API Tensor sigmoid_backward(const Tensor& grad, const Tensor& output);
HB_API Tensor threshold_backward(const Tensor& grad, const Tensor& self, const Scalar& threshold);
HB_API Tensor silu_backward(const Tensor& grad, const Tensor& self);
HB_API Tensor mish_backward(const Tensor& grad, const Tensor& self);
HB_API Tensor hardsigmoid_backward(const Tensor& grad, const Tensor& self);
HB_API Tensor hardswish_backward(const Tensor& grad, const Tensor& self);
HB_API Tensor gelu_backward(const Tensor& grad, const Tensor& self, std::string_view approximate = "none");
HB_API Tensor leaky_relu_backward(const Tensor& grad, const Tensor& self, const Scalar& negative_slope,
                                  bool self_is_result);
HB_API Tensor pow_backward_self(const Tensor& grad, const Tensor& base, const Tensor& exponent);
HB_API Tensor pow_backward_exponent(const Tensor& grad, const Tensor& base, const Tensor& exponent,
                                    const Tensor& result);
/// 1, and 1/2 where the two are equal: how maximum and minimum share a gradient.
HB_API Tensor extremum_share(const Tensor& a, const Tensor& b);
HB_API Tensor softmax_backward(const Tensor& grad, const Tensor& output, int64_t dim);
HB_API Tensor log_softmax_backward(const Tensor& grad, const Tensor& output, int64_t dim);

}  // namespace hb
