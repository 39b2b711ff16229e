#include <halfbridge/bridge/nn/activation.h>

#include <halfbridge/ops.h>

namespace hb::bridge::nn::functional {

Tensor elu(Tensor input, const ELUFuncOptions& o) {
  return o.inplace() ? hb::elu_(input, o.alpha()) : hb::elu(input, o.alpha());
}
Tensor selu(Tensor input, const SELUFuncOptions& o) { return o.inplace() ? hb::selu_(input) : hb::selu(input); }
Tensor celu(Tensor input, const CELUFuncOptions& o) {
  return o.inplace() ? hb::celu_(input, o.alpha()) : hb::celu(input, o.alpha());
}
Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& o) { return hb::hardshrink(input, o.lambda()); }
Tensor hardtanh(Tensor input, const HardtanhFuncOptions& o) {
  return o.inplace() ? hb::hardtanh_(input, o.min_val(), o.max_val()) : hb::hardtanh(input, o.min_val(), o.max_val());
}
Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& o) {
  return o.inplace() ? hb::leaky_relu_(input, o.negative_slope()) : hb::leaky_relu(input, o.negative_slope());
}
Tensor logsigmoid(const Tensor& input) { return hb::log_sigmoid(input); }

Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& o) {
  Tensor noise = -hb::empty_like(logits).exponential_().log();
  Tensor soft = ((logits + noise) / o.tau()).softmax(o.dim());
  if (!o.hard()) return soft;
  Tensor index = std::get<1>(soft.max(o.dim(), /*keepdim=*/true));
  Tensor hard = hb::zeros_like(logits).scatter_(o.dim(), index, 1.0);
  return hard - soft.detach() + soft;  // the value of hard, the gradient of soft
}

Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& o) { return input.softmax(o.dim(), o.dtype()); }
Tensor softmin(const Tensor& input, const SoftminFuncOptions& o) { return (-input).softmax(o.dim(), o.dtype()); }
Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& o) {
  return input.log_softmax(o.dim(), o.dtype());
}
Tensor glu(const Tensor& input, const GLUFuncOptions& o) {
  HB_CHECK(input.dim() != 0, "glu does not support scalars because halving size must be even");
  return hb::glu(input, o.dim());
}
Tensor gelu(const Tensor& input, const GELUFuncOptions& o) { return hb::gelu(input, o.approximate()); }
Tensor silu(const Tensor& input) { return hb::silu(input); }
Tensor mish(const Tensor& input) { return hb::mish(input); }
Tensor prelu(const Tensor& input, const Tensor& weight) { return hb::prelu(input, weight); }
Tensor relu(Tensor input, const ReLUFuncOptions& o) { return o.inplace() ? hb::relu_(input) : hb::relu(input); }
Tensor relu6(Tensor input, const ReLU6FuncOptions& o) { return o.inplace() ? hb::relu6_(input) : hb::relu6(input); }
Tensor rrelu(Tensor input, const RReLUFuncOptions& o) {
  return o.inplace() ? hb::rrelu_(input, o.lower(), o.upper(), o.training())
                     : hb::rrelu(input, o.lower(), o.upper(), o.training());
}
Tensor softplus(const Tensor& input, const SoftplusFuncOptions& o) {
  return hb::softplus(input, o.beta(), o.threshold());
}
Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& o) { return hb::softshrink(input, o.lambda()); }
Tensor softsign(const Tensor& input) { return input / (input.abs() + 1); }
Tensor tanhshrink(const Tensor& input) { return input - input.tanh(); }
Tensor threshold(Tensor input, const ThresholdFuncOptions& o) {
  return o.inplace() ? hb::threshold_(input, o.threshold(), o.value()) : hb::threshold(input, o.threshold(), o.value());
}

}  // namespace hb::bridge::nn::functional
