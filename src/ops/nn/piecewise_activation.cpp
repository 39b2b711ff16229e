// Activations that are linear piece by piece: leaky_relu, rrelu, hardtanh, relu6, the shrinks, threshold (whose
// gradient is relu's, too).
#include "ops/nn/activation.h"

#include "autograd/zero_gradient.h"
#include "backend/distributions.h"
#include "core/value_range.h"
#include "ops/common/refused_dtypes.h"
#include "ops/nn/late_pass.h"

namespace hb {

using ops::check_floating;
using ops::floating_op;
using ops::gradients;
using ops::piecewise_gradient;

Tensor ops::piecewise_gradient(const char* name, const char* node, const FormulaKernel& formula, const Tensor& g,
                               const Tensor& x, const std::array<double, 3>& p, size_t parameters) {
  Tensor out = floating_op(name, formula, {g, x}, ArrayRef<double>(p.data(), parameters));
  if (needs_grad(g, x))
    record(node, out, {&g, &x}, {SavedTensor::input(x)}, [=, &formula](Backward& b, auto& s) {
      return gradients(piecewise_gradient(name, node, formula, b.grad(), s[0], p, parameters),
                       autodiff::zero_gradient());
    });
  return out;
}

// --- leaky_relu

Tensor leaky_relu_backward(const Tensor& g, const Tensor& x, const Scalar& negative_slope, bool self_is_result) {
  HB_CHECK(!self_is_result || negative_slope.toDouble() >= 0,
           "[leaky_relu_backward] In-place leakyReLu backward calculation is "
           "triggered with a negative slope which is not supported.");
  return piecewise_gradient("leaky_relu_backward", "LeakyReluBackwardBackward0", leaky_relu_backward_formula, g, x,
                            {negative_slope.toDouble()}, 1);
}

namespace {
void check_leaky_relu(const Tensor& self, const Scalar& negative_slope) {
  check_floating("leaky_relu", self);
  check_factor_fits("leaky_relu", self.scalar_type(), negative_slope);
}
}  // namespace

Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope) {
  HB_FUNCTION(leaky_relu, self, negative_slope);
  check_leaky_relu(self, negative_slope);
  const double p[] = {negative_slope.toDouble()};
  Tensor out = floating_op("leaky_relu", leaky_relu_formula, {self}, p);
  if (needs_grad(self))
    record("LeakyReluBackward0", out, {&self}, {SavedTensor::input(self)}, [negative_slope](Backward& b, auto& s) {
      return gradients(leaky_relu_backward(b.grad(), s[0], negative_slope, false));
    });
  return out;
}

// --- rrelu

namespace {

/// Factors of rrelu: one draw per element that is not positive, in order; 1 for the others.
Tensor rrelu_slopes(const Tensor& self, double low, double high, const std::optional<Generator>& generator) {
  NoGradGuard no_history;
  if (rrelu_slopes_kernel.available(self.device())) {
    const Tensor drawn = empty(self.sizes(), self.options());
    rrelu_slopes_kernel(self.device())(drawn, self.detach(), low, high, generator);
    return drawn;
  }
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
  return named("RreluWithNoiseBackward0", self * slopes, self);
}
Tensor& rrelu_with_noise_(Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training,
                          std::optional<Generator> generator) {
  return inplace("rrelu_with_noise_", self, [&](const Tensor& x) {
    return named("RreluWithNoiseBackward1", rrelu_with_noise(x, noise, lower, upper, training, generator), x);
  });
}

// --- hardtanh, relu6, shrinks, threshold

Tensor threshold_backward(const Tensor& g, const Tensor& x, const Scalar& threshold) {
  const double p[] = {threshold.toDouble()};
  const ScalarType t = ops::promoted({g, x});
  Tensor out = p[0] == 0 ? ops::late_relu_gradient(g, x) : Tensor();
  if (!out.defined())
    out = ops::launch_new("threshold_backward", threshold_backward_formula, compute_type(t), t, {g, x}, p);
  if (needs_grad(g, x))
    record("ThresholdBackwardBackward0", out, {&g, &x}, {SavedTensor::input(x)}, [threshold](Backward& b, auto& s) {
      return gradients(threshold_backward(b.grad(), s[0], threshold), autodiff::zero_gradient());
    });
  return out;
}

namespace {

Tensor inside_gradient(const Tensor& g, const Tensor& x, double low, double high) {
  return piecewise_gradient("hardtanh_backward", "HardtanhBackwardBackward0", inside_formula, g, x, {low, high, 1}, 3);
}

Tensor shrink_gradient(const char* node, const Tensor& g, const Tensor& x, double lambd) {
  return piecewise_gradient("shrink_backward", node, shrink_backward_formula, g, x, {lambd}, 1);
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

namespace {
void check_hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  const ScalarType t = self.scalar_type();
  HB_CHECK(t != kBool, "[hardtanh] Bool inputs not supported for hardtanh");
  HB_CHECK(t != kByte || min_val.toDouble() >= 0,
           "[hardtanh] cannot do hardtanh on an unsigned type with negative limits");
  check_value_fits("hardtanh", t, min_val);
  check_value_fits("hardtanh", t, max_val);
}
}  // namespace

Tensor hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  HB_FUNCTION(hardtanh, self, min_val, max_val);
  check_hardtanh(self, min_val, max_val);
  const ScalarType t = self.scalar_type();
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

// --- in-place forms

Tensor& leaky_relu_(Tensor& self, const Scalar& slope) {
  HB_FUNCTION(leaky_relu_, self, slope);
  check_leaky_relu(self, slope);
  const double p[] = {slope.toDouble()};
  return ops::formula_inplace("leaky_relu_", self, leaky_relu_formula, {self}, p,
                              [&](const Tensor& x) { return named("LeakyReluBackward1", leaky_relu(x, slope), x); });
}
Tensor& hardtanh_(Tensor& self, const Scalar& low, const Scalar& high) {
  HB_FUNCTION(hardtanh_, self, low, high);
  check_hardtanh(self, low, high);
  return ops::formula_inplace("hardtanh_", self, clamp_formula, {self, low, high}, {},
                              [&](const Tensor& x) { return hardtanh(x, low, high); });
}
Tensor& relu6_(Tensor& self) {
  HB_FUNCTION(relu6_, self);
  return hardtanh_(self, 0, 6);
}
HB_INPLACE_NODE("ThresholdBackward1", threshold, (Tensor & self, const Scalar& level, const Scalar& value), level,
                value)
HB_INPLACE_NODE("RreluWithNoiseBackward1", rrelu,
                (Tensor & self, const Scalar& lower, const Scalar& upper, bool training,
                 std::optional<Generator> generator),
                lower, upper, training, generator)

}  // namespace hb
