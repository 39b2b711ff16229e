// Smooth activations with parameters (elu and its relatives, gelu, softplus), and the fused gradients of the smooth
// ones and of hardsigmoid and hardswish, which are rows of unary.def.
#include "ops/nn/activation.h"

#include "backend/log_sigmoid.h"
#include "core/loop.h"
#include "core/value_range.h"
#include "ops/elementwise/fused_gradients.h"

namespace hb {

using ops::check_floating;
using ops::floating_op;
using ops::fused;
using ops::gradients;

Tensor tanh_backward(const Tensor& g, const Tensor& y) {
  return fused("tanh_backward", "TanhBackwardBackward0", tanh_backward_formula, g, y, {},
               [&] { return g * (1 - y * y); });
}
Tensor sigmoid_backward(const Tensor& g, const Tensor& y) {
  return fused("sigmoid_backward", "SigmoidBackwardBackward0", sigmoid_backward_formula, g, y, {},
               [&] { return g * ((1 - y) * y); });
}
Tensor silu_backward(const Tensor& g, const Tensor& x) {
  return fused("silu_backward", nullptr, silu_backward_formula, g, x, {}, [&] {
    const Tensor s = sigmoid(x);
    return g * (s * (1 + x * (1 - s)));
  });
}
Tensor ops::log_sigmoid_backward(const Tensor& g, const Tensor& x) {
  return fused("log_sigmoid_backward", "LogSigmoidBackwardBackward0", log_sigmoid_backward_formula, g, x, {},
               [&] { return g * sigmoid(neg(x)); });
}
Tensor ops::log_sigmoid_with_slope(const Tensor& x) {
  const DimVector& sizes = x.impl().sizes();
  Tensor out = empty_elementwise(sizes, x.scalar_type(), {&x});
  const Tensor slope = empty_elementwise(sizes, x.scalar_type(), {&x});
  log_sigmoid_slope_kernel(x.device())(Loop({&out, &slope}, {&x}));
  record("LogSigmoidBackward0", out, {&x}, {SavedTensor::input(x), SavedTensor::input(slope)},
         [](Backward& b, auto& s) -> variable_list {
           const Tensor& g = b.grad();
           return gradients(needs_grad(g, s[0]) ? log_sigmoid_backward(g, s[0]) : g * s[1]);
         });
  return out;
}
Tensor ops::logit_backward(const Tensor& g, const Tensor& x, double low, double high, double outside) {
  const double p[] = {low, high, outside};
  return fused("logit_backward", nullptr, logit_backward_formula, g, x, p,
               [&] { return where((x < low).logical_or(x > high), Scalar(outside), g / (x * (1 - x))); });
}
Tensor mish_backward(const Tensor& g, const Tensor& x) {
  return fused("mish_backward", nullptr, mish_backward_formula, g, x, {}, [&] {
    const Tensor t = tanh(softplus(x)), s = sigmoid(x);
    return g * (t + x * (s * (1 - t * t)));
  });
}
Tensor hardsigmoid_backward(const Tensor& g, const Tensor& x) {
  return ops::piecewise_gradient("hardsigmoid_backward", "HardsigmoidBackwardBackward0", hardsigmoid_backward_formula,
                                 g, x, {}, 0);
}
Tensor hardswish_backward(const Tensor& g, const Tensor& x) {
  return fused("hardswish_backward", "HardswishBackwardBackward0", hardswish_backward_formula, g, x, {}, [&] {
    const Tensor middle = g * (x / 3 + 0.5);
    return where(x <= -3, Scalar(0), where(x < 3, middle, g));
  });
}

// --- elu and its relatives

namespace {

struct Elu {
  double low, high, inner;  // factors below zero, above, of the exponent
};

Tensor elu_backward(const Tensor& g, const Tensor& x, const Elu& e) {
  const double p[] = {e.low, e.high, e.inner};
  return fused("elu_backward", "EluBackwardBackward0", elu_backward_formula, g, x, p, [&] {
    // Not of large x, whose exponential is infinite: its own gradient would be NaN.
    const Tensor below = where(x < 0, x, Scalar(0));
    return where(x <= 0, g * (exp(below * e.inner) * (e.low * e.inner)), g * e.high);
  });
}

Tensor elu_general(const char* name, const char* node, const Tensor& self, const Elu& e) {
  check_floating(name, self);
  const double p[] = {e.low, e.high, e.inner};
  for (const double number : p) check_factor_fits(name, self.scalar_type(), number);
  Tensor out = floating_op(name, elu_formula, {self}, p);
  if (needs_grad(self))
    record(node, out, {&self}, {SavedTensor::input(self)},
           [e](Backward& b, auto& s) { return gradients(elu_backward(b.grad(), s[0], e)); });
  return out;
}

}  // namespace

Tensor elu(const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  HB_FUNCTION(elu, self, alpha, scale, input_scale);
  return elu_general("elu", "EluBackward0", self,
                     {alpha.toDouble() * scale.toDouble(), scale.toDouble(), input_scale.toDouble()});
}
Tensor celu(const Tensor& self, const Scalar& alpha) {
  HB_FUNCTION(celu, self, alpha);
  HB_CHECK(alpha.toDouble() != 0, "[celu] ZeroDivisionError: alpha cannot be 0 for CELU");
  return elu_general("celu", "CeluBackward0", self, {alpha.toDouble(), 1, 1 / alpha.toDouble()});
}
Tensor selu(const Tensor& self) {
  HB_FUNCTION(selu, self);
  constexpr double alpha = 1.6732632423543772848170429916717, scale = 1.0507009873554804934193349852946;
  return elu_general("selu", "EluBackward0", self, {alpha * scale, scale, 1});
}

// --- gelu

namespace {

bool is_tanh(const char* name, std::string_view approximate) {
  HB_CHECK(approximate == "none" || approximate == "tanh", "[", name,
           "] approximate argument must be either none or tanh, got ", approximate);
  return approximate == "tanh";
}

Tensor gelu_slope(const Tensor& x, bool by_tanh) {
  if (by_tanh) {
    const double k = 0.79788456080286535588;
    const Tensor t = tanh((x + x * x * x * 0.044715) * k);
    return (t + 1) * 0.5 + x * 0.5 * (1 - t * t) * ((x * x * (3 * 0.044715) + 1) * k);
  }
  const Tensor cdf = (erf(x * 0.70710678118654752440) + 1) * 0.5;
  return cdf + x * (exp(x * x * -0.5) * 0.39894228040143267794);
}

}  // namespace

Tensor gelu_backward(const Tensor& g, const Tensor& x, std::string_view approximate) {
  const bool by_tanh = is_tanh("gelu_backward", approximate);
  return fused("gelu_backward", "GeluBackwardBackward0",
               by_tanh ? gelu_tanh_backward_formula : gelu_erf_backward_formula, g, x, {},
               [&] { return g * gelu_slope(x, by_tanh); });
}

Tensor gelu(const Tensor& self, std::string_view approximate) {
  HB_FUNCTION(gelu, self, approximate);
  check_floating("gelu", self);
  const bool by_tanh = is_tanh("gelu", approximate);
  Tensor out = floating_op("gelu", by_tanh ? gelu_tanh_formula : gelu_erf_formula, {self});
  if (needs_grad(self))
    record("GeluBackward0", out, {&self}, {SavedTensor::input(self)}, [by_tanh](Backward& b, auto& s) {
      return gradients(gelu_backward(b.grad(), s[0], by_tanh ? "tanh" : "none"));
    });
  return out;
}

Tensor& gelu_(Tensor& self, std::string_view approximate) {
  return inplace("gelu_", self, [&](const Tensor& x) { return gelu(x, approximate); });
}

// --- softplus

namespace {

Tensor softplus_backward(const Tensor& g, const Tensor& x, double beta, double threshold) {
  const double p[] = {beta, threshold};
  return fused("softplus_backward", "SoftplusBackwardBackward0", softplus_backward_formula, g, x, p,
               [&] { return where(x * beta > threshold, g, g * sigmoid(x * beta)); });
}

}  // namespace

Tensor softplus(const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  HB_AUTOCAST(softplus, as_is, fp32, self, beta, threshold);
  check_floating("softplus", self);
  const double p[] = {beta.toDouble(), threshold.toDouble()};
  for (const double number : p) check_factor_fits("softplus", self.scalar_type(), number);
  Tensor out = floating_op("softplus", softplus_formula, {self}, p);
  if (needs_grad(self))
    record("SoftplusBackward0", out, {&self}, {SavedTensor::input(self)},
           [b = p[0], t = p[1]](Backward& c, auto& s) { return gradients(softplus_backward(c.grad(), s[0], b, t)); });
  return out;
}

// --- in-place forms

HB_INPLACE_NODE("EluBackward1", elu,
                (Tensor & self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale), alpha, scale,
                input_scale)
HB_INPLACE_NODE("CeluBackward1", celu, (Tensor & self, const Scalar& alpha), alpha)
HB_INPLACE_NODE("EluBackward1", selu, (Tensor & self))

}  // namespace hb
