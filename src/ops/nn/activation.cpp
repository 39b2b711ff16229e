// Activations with parameters, and the fused gradients of all activations. Every fused gradient is differentiable
// itself, by way of its composed form.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/value_range.h"
#include "ops/common/inplace.h"
#include "ops/common/refused_dtypes.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/elementwise/fused_gradients.h"
#include "ops/nn/late_pass.h"

namespace hb {
namespace {

using ops::floating_op;
using ops::gradients;

void check_floating(const char* name, const Tensor& x) {
  HB_CHECK(x.is_floating_point(), "[", name, "] not implemented for '", toString(x.scalar_type()),
           "': expected a floating tensor");
}

/// Runs a fused gradient; where a graph is being made, gives the composed form, which has a history of its own. `node`:
/// its node's name, null where LibTorch composes the gradient too.
template <class Composed>
Tensor fused(const char* name, const char* node, const FormulaKernel& formula, const Tensor& g, const Tensor& x,
             ArrayRef<double> p, const Composed& composed) {
  if (!needs_grad(g, x)) return floating_op(name, formula, {g, x}, p);
  return node ? named(node, composed(), g) : composed();
}

/// As a factor of a gradient.
Tensor as_factor(const Tensor& condition, const Tensor& like) { return condition.to(like.scalar_type()); }

}  // namespace

Tensor tanh_backward(const Tensor& g, const Tensor& y) {
  return fused("tanh_backward", "TanhBackwardBackward0", tanh_backward_formula, g, y, {},
               [&] { return g * (1 - y * y); });
}
Tensor sigmoid_backward(const Tensor& g, const Tensor& y) {
  return fused("sigmoid_backward", "SigmoidBackwardBackward0", sigmoid_backward_formula, g, y, {},
               [&] { return g * ((1 - y) * y); });
}
Tensor threshold_backward(const Tensor& g, const Tensor& x, const Scalar& threshold) {
  const double p[] = {threshold.toDouble()};
  const ScalarType t = ops::promoted({g, x});
  Tensor out = p[0] == 0 ? ops::late_relu_gradient(g, x) : Tensor();
  if (!out.defined())
    out = ops::launch_new("threshold_backward", threshold_backward_formula, compute_type(t), t, {g, x}, p);
  if (needs_grad(g))
    record("ThresholdBackwardBackward0", out, {&g}, {SavedTensor::input(x)},
           [threshold](Backward& b, auto& s) { return gradients(threshold_backward(b.grad(), s[0], threshold)); });
  return out;
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
  return fused("hardsigmoid_backward", "HardsigmoidBackwardBackward0", hardsigmoid_backward_formula, g, x, {},
               [&] { return g * as_factor(logical_and(x > -3, x < 3), g) / 6; });
}
Tensor hardswish_backward(const Tensor& g, const Tensor& x) {
  return fused("hardswish_backward", "HardswishBackwardBackward0", hardswish_backward_formula, g, x, {}, [&] {
    const Tensor middle = g * (x / 3 + 0.5);
    return where(x <= -3, Scalar(0), where(x < 3, middle, g));
  });
}

// --- leaky_relu

Tensor leaky_relu_backward(const Tensor& g, const Tensor& x, const Scalar& negative_slope, bool self_is_result) {
  HB_CHECK(!self_is_result || negative_slope.toDouble() >= 0,
           "[leaky_relu_backward] In-place leakyReLu backward calculation is "
           "triggered with a negative slope which is not supported.");
  const double p[] = {negative_slope.toDouble()};
  return fused("leaky_relu_backward", "LeakyReluBackwardBackward0", leaky_relu_backward_formula, g, x, p,
               [&] { return where(x > 0, g, g * negative_slope); });
}

Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope) {
  HB_FUNCTION(leaky_relu, self, negative_slope);
  check_floating("leaky_relu", self);
  const double p[] = {negative_slope.toDouble()};
  check_factor_fits("leaky_relu", self.scalar_type(), negative_slope);
  Tensor out = floating_op("leaky_relu", leaky_relu_formula, {self}, p);
  if (needs_grad(self))
    record("LeakyReluBackward0", out, {&self}, {SavedTensor::input(self)}, [negative_slope](Backward& b, auto& s) {
      return gradients(leaky_relu_backward(b.grad(), s[0], negative_slope, false));
    });
  return out;
}

// --- elu and its relatives

namespace {

struct Elu {
  double low, high, inner;  // factors below zero, above, of the exponent
};

Tensor elu_backward(const Tensor& g, const Tensor& x, const Elu& e) {
  const double p[] = {e.low, e.high, e.inner};
  return fused("elu_backward", "EluBackwardBackward0", elu_backward_formula, g, x, p,
               [&] { return where(x <= 0, g * (exp(x * e.inner) * (e.low * e.inner)), g * e.high); });
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

// --- piecewise linear ones

namespace {

Tensor inside_gradient(const Tensor& g, const Tensor& x, double low, double high) {
  const double p[] = {low, high, 1};
  return fused("hardtanh_backward", "HardtanhBackwardBackward0", inside_formula, g, x, p,
               [&] { return g * as_factor(logical_and(x > low, x < high), g); });
}

Tensor shrink_gradient(const char* node, const Tensor& g, const Tensor& x, double lambd) {
  const double p[] = {lambd};
  return fused("shrink_backward", node, shrink_backward_formula, g, x, p,
               [&] { return g * as_factor(logical_or(x<-lambd, x> lambd), g); });
}

struct ShrinkNodes {
  const char *first, *second;
};
constexpr ShrinkNodes soft = {"SoftshrinkBackward0", "SoftshrinkBackwardBackward0"},
                      hard = {"HardshrinkBackward0", "HardshrinkBackwardBackward0"};

Tensor shrink(const char* name, const ShrinkNodes& nodes, const FormulaKernel& formula, const Tensor& self,
              const Scalar& lambd) {
  check_floating(name, self);
  const double p[] = {lambd.toDouble()};
  Tensor out = floating_op(name, formula, {self}, p);
  if (needs_grad(self))
    record(nodes.first, out, {&self}, {SavedTensor::input(self)}, [l = p[0], &nodes](Backward& b, auto& s) {
      return gradients(shrink_gradient(nodes.second, b.grad(), s[0], l));
    });
  return out;
}

}  // namespace

Tensor hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  HB_FUNCTION(hardtanh, self, min_val, max_val);
  const ScalarType t = self.scalar_type();
  HB_CHECK(t != kBool, "[hardtanh] Bool inputs not supported for hardtanh");
  HB_CHECK(t != kByte || min_val.toDouble() >= 0,
           "[hardtanh] cannot do hardtanh on an unsigned type with negative limits");
  check_value_fits("hardtanh", t, min_val);
  check_value_fits("hardtanh", t, max_val);
  Tensor out = ops::launch_new("hardtanh", clamp_formula, compute_type(t), t, {self, min_val, max_val});
  if (needs_grad(self))
    record("HardtanhBackward0", out, {&self}, {SavedTensor::input(self)},
           [l = min_val.toDouble(), h = max_val.toDouble()](Backward& b, auto& s) {
             return gradients(inside_gradient(b.grad(), s[0], l, h));
           });
  return out;
}
Tensor relu6(const Tensor& self) {
  HB_FUNCTION(relu6, self);
  return hardtanh(self, 0, 6);
}
Tensor softshrink(const Tensor& self, const Scalar& lambd) {
  HB_FUNCTION(softshrink, self, lambd);
  HB_CHECK(
      !self.is_floating_point() || (lambd.toDouble() >= 0 && lambd.toDouble() <= largest_finite(self.scalar_type())),
      "[softshrink] lambda must be in range [0, ", largest_finite(self.scalar_type()), "] for input dtype ",
      toString(self.scalar_type()), ", but found ", lambd);
  return shrink("softshrink", soft, softshrink_formula, self, lambd);
}
Tensor hardshrink(const Tensor& self, const Scalar& lambd) {
  HB_FUNCTION(hardshrink, self, lambd);
  check_value_fits("hardshrink", self.scalar_type(), lambd);
  return shrink("hardshrink", hard, hardshrink_formula, self, lambd);
}
Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  HB_FUNCTION(hb::threshold, self, threshold, value);
  const double p[] = {threshold.toDouble(), value.toDouble()};
  const ScalarType t = self.scalar_type();
  ops::refuse_bool("threshold", t);
  check_factor_fits("threshold", t, threshold);
  check_value_fits("threshold", t, value);
  Tensor out = ops::launch_new("threshold", threshold_formula, compute_type(t), t, {self}, p);
  if (needs_grad(self))
    record("ThresholdBackward0", out, {&self}, {SavedTensor::input(self)},
           [threshold](Backward& b, auto& s) { return gradients(threshold_backward(b.grad(), s[0], threshold)); });
  return out;
}

namespace {

/// Factors of rrelu: one draw per element that is not positive, in order; 1 for the others.
Tensor rrelu_slopes(const Tensor& self, double low, double high, const std::optional<Generator>& generator) {
  NoGradGuard no_history;
  Tensor slopes = ones_like(self);
  const Tensor negative = self <= 0;
  // LibTorch draws them in double too, whatever the dtype.
  const Tensor draws =
      empty({negative.sum().item().toLong()}, self.options().dtype(kDouble)).uniform_(low, high, generator);
  return slopes.masked_scatter_(negative, draws.to(self.scalar_type()));
}

}  // namespace

Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
             std::optional<Generator> generator) {
  HB_FUNCTION(rrelu, self, lower, upper, training, generator);
  const double low = lower.toDouble(), high = upper.toDouble();
  HB_CHECK(low <= high, "[rrelu] Lower bound should be less than or equal to the upper bound, got ", low, " and ",
           high);
  check_floating("rrelu", self);
  if (!training) return named("RreluWithNoiseBackward0", leaky_relu(self, (low + high) / 2), self);
  return named("RreluWithNoiseBackward0", self * rrelu_slopes(self, low, high, generator), self);
}

Tensor rrelu_with_noise(const Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training,
                        std::optional<Generator> generator) {
  HB_FUNCTION(rrelu_with_noise, self, noise, lower, upper, training, generator);
  HB_CHECK(noise.sizes() == self.sizes(), "[rrelu_with_noise] expected noise of the shape ", self.sizes(), ", got ",
           noise.sizes());
  if (!training) return rrelu(self, lower, upper, false, generator);
  const double low = lower.toDouble(), high = upper.toDouble();
  HB_CHECK(low <= high, "[rrelu_with_noise] Lower bound should be less than or equal to the upper bound, got ", low,
           " and ", high);
  check_floating("rrelu_with_noise", self);
  const Tensor slopes = rrelu_slopes(self, low, high, generator);
  noise.copy_(slopes);
  return self * slopes;
}
Tensor& rrelu_with_noise_(Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training,
                          std::optional<Generator> generator) {
  return inplace("rrelu_with_noise_", self,
                 [&](const Tensor& x) { return rrelu_with_noise(x, noise, lower, upper, training, generator); });
}
Tensor& gelu_(Tensor& self, std::string_view approximate) {
  return inplace("gelu_", self, [&](const Tensor& x) { return gelu(x, approximate); });
}

// --- in-place forms

#define HB_INPLACE(name, params, ...)                                                                  \
  Tensor& name##_ params {                                                                             \
    HB_FUNCTION(name##_, self __VA_OPT__(, ) __VA_ARGS__);                                             \
    return inplace(#name "_", self,                                                                    \
                   [&](const Tensor& old) -> Tensor { return name(old __VA_OPT__(, ) __VA_ARGS__); }); \
  }
HB_INPLACE(leaky_relu, (Tensor & self, const Scalar& slope), slope)
HB_INPLACE(elu, (Tensor & self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale), alpha, scale,
           input_scale)
HB_INPLACE(celu, (Tensor & self, const Scalar& alpha), alpha)
HB_INPLACE(selu, (Tensor & self))
HB_INPLACE(hardtanh, (Tensor & self, const Scalar& low, const Scalar& high), low, high)
HB_INPLACE(relu6, (Tensor & self))
HB_INPLACE(threshold, (Tensor & self, const Scalar& level, const Scalar& value), level, value)
HB_INPLACE(rrelu,
           (Tensor & self, const Scalar& lower, const Scalar& upper, bool training, std::optional<Generator> generator),
           lower, upper, training, generator)
#undef HB_INPLACE

}  // namespace hb
