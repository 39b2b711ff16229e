// Element-wise functions written with others, and their in-place forms.
#include <cmath>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/value_range.h"
#include "ops/common/as_floating.h"
#include "ops/common/inplace.h"
#include "ops/common/refused_dtypes.h"
#include "ops/common/without_gradient.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/elementwise/fused_gradients.h"

namespace hb {

namespace {

constexpr double kPi = 3.14159265358979323846;

/// Integers as the default floating dtype, as functions of the domain `floating` take them.
Tensor as_floating(const char* name, const Tensor& self) {
  HB_CHECK_SUPPORTED(!self.is_complex(), "[", name, "] not implemented for ", self.scalar_type());
  return ops::as_floating(self);
}

/// f of self; half types are computed in float and rounded once.
template <class F>
Tensor in_float(const char* name, const Tensor& self, F f) {
  return is_half_type(self.scalar_type()) ? f(self.to(kFloat)).to(self.scalar_type()) : f(as_floating(name, self));
}

/// What float_power computes in.
ScalarType power_type(bool any_complex) { return any_complex ? kComplexDouble : kDouble; }

}  // namespace

Tensor positive(const Tensor& self) {
  HB_CHECK(self.scalar_type() != kBool, "[positive] expected a number dtype, got Bool");
  return self;
}
Tensor& sgn_(Tensor& self) {
  return inplace("sgn_", self, [](const Tensor& x) { return sgn(x); });
}

Tensor deg2rad(const Tensor& self) {
  return named("Deg2RadBackward0", as_floating("deg2rad", self) * (kPi / 180), self);
}
Tensor& deg2rad_(Tensor& self) {
  return inplace("deg2rad_", self, [](const Tensor& x) { return deg2rad(x); });
}
Tensor rad2deg(const Tensor& self) {
  return named("Rad2DegBackward0", as_floating("rad2deg", self) * (180 / kPi), self);
}
Tensor& rad2deg_(Tensor& self) {
  return inplace("rad2deg_", self, [](const Tensor& x) { return rad2deg(x); });
}

Tensor sinc(const Tensor& self) {
  const auto quotient = [](const Tensor& t) {
    Tensor out;
    {
      NoGradGuard no_history;
      const Tensor x = t * kPi, zero = x == 0;
      out = (sin(x) / x).masked_fill(zero, 1);
    }
    if (needs_grad(t))
      record("SincBackward0", out, {&t}, {SavedTensor::input(t)}, [](Backward& b, auto& s) {
        // One quotient: near 0 the difference of two has no digits left.
        const Tensor x = s[0] * kPi, zero = x * x == 0, safe = (x * x).masked_fill(zero, 1);
        return ops::gradients(b.grad() * conj(((x * cos(x) - sin(x)) / safe).masked_fill(zero, 0)) * kPi);
      });
    return out;
  };
  return named("SincBackward0", self.is_complex() ? quotient(self) : in_float("sinc", self, quotient), self);
}
Tensor& sinc_(Tensor& self) {
  return inplace("sinc_", self, [](const Tensor& x) { return sinc(x); });
}

Tensor logit(const Tensor& self, std::optional<double> eps) {
  if (eps && self.is_floating_point()) check_value_fits("logit", self.scalar_type(), *eps);
  const Tensor x = as_floating("logit", self);
  const double none = std::numeric_limits<double>::infinity(), p[] = {eps ? *eps : -none, eps ? 1 - *eps : none};
  Tensor out = ops::floating_op("logit", logit_formula, {x}, p);
  if (needs_grad(x))
    record("LogitBackward0", out, {&x}, {SavedTensor::input(x)}, [eps](Backward& b, auto& s) {
      return ops::gradients(eps ? ops::logit_backward(b.grad(), s[0], *eps, 1 - *eps, 0)
                                : ops::logit_backward(b.grad(), s[0], 0, 1, NAN));
    });
  return out;
}
Tensor& logit_(Tensor& self, std::optional<double> eps) {
  return inplace("logit_", self, [&](const Tensor& x) { return logit(x, eps); });
}

Tensor copysign(const Tensor& self, const Tensor& other) {
  const ScalarType t = ops::floating_result(ops::promoted({self, other}));
  HB_CHECK_SUPPORTED(!is_complex_type(t), "[copysign] not implemented for ", t);
  Tensor out = ops::launch_new("copysign", copysign_formula, compute_type(t), t, {self, other});
  if (needs_grad(self, other))
    record("CopysignBackward0", out, {&self, &other}, {SavedTensor::input(self), SavedTensor::output(out)},
           [](Backward& b, auto& s) -> variable_list {
             const Tensor x = s[0].detach(), slope = (s[1].detach() / x).masked_fill(x == 0, 0);
             return ops::gradients(b.grad() * slope, zeros_like(b.grad()));
           });
  return out;
}
Tensor copysign(const Tensor& self, const Scalar& other) {
  const Tensor magnitude = as_floating("copysign", self).abs();
  return named("CopysignBackward1", std::signbit(other.toDouble()) ? -magnitude : magnitude, self);
}
Tensor& copysign_(Tensor& self, const Tensor& other) {
  return inplace("copysign_", self, [&](const Tensor& x) { return copysign(x, other); });
}
Tensor& copysign_(Tensor& self, const Scalar& other) {
  return inplace("copysign_", self, [&](const Tensor& x) { return copysign(x, other); });
}

Tensor heaviside(const Tensor& self, const Tensor& values) {
  HB_DEFINED(heaviside, self, values);
  HB_CHECK(self.scalar_type() == values.scalar_type(), "[heaviside] expected values of the dtype ", self.scalar_type(),
           ", got ", values.scalar_type());
  const ScalarType t = self.scalar_type();
  HB_CHECK(!is_complex_type(t), "[heaviside] not implemented for ", t);
  return ops::without_gradient(
      "heaviside", ops::launch_new("heaviside", heaviside_formula, compute_type(t), t, {self, values}), self, values);
}
Tensor& heaviside_(Tensor& self, const Tensor& values) {
  return inplace("heaviside_", self, [&](const Tensor& x) { return heaviside(x, values); });
}

Tensor float_power(const Tensor& self, const Tensor& exponent) {
  const ScalarType t = power_type(self.is_complex() || exponent.is_complex());
  return pow(self.to(t), exponent.to(t));
}
Tensor float_power(const Tensor& self, const Scalar& exponent) {
  const ScalarType t = power_type(self.is_complex() || exponent.isComplex());
  return pow(self.to(t), exponent.isComplex() ? exponent : Scalar(exponent.toDouble()));
}
Tensor float_power(const Scalar& self, const Tensor& exponent) {
  const ScalarType t = power_type(self.isComplex() || exponent.is_complex());
  return pow(self.isComplex() ? self : Scalar(self.toDouble()), exponent.to(t));
}
namespace {
template <class Exponent>
Tensor& float_power_of(Tensor& self, const Exponent& exponent) {
  return inplace("float_power_", self, [&](const Tensor& x) {
    Tensor out = float_power(x, exponent);
    HB_CHECK(x.scalar_type() == out.scalar_type(), "[float_power_] expected a base of dtype ", out.scalar_type(),
             ", the dtype of the result, got ", x.scalar_type());
    return out;
  });
}
}  // namespace
Tensor& float_power_(Tensor& self, const Tensor& exponent) { return float_power_of(self, exponent); }
Tensor& float_power_(Tensor& self, const Scalar& exponent) { return float_power_of(self, exponent); }

Tensor logaddexp2(const Tensor& self, const Tensor& other) {
  HB_FUNCTION(logaddexp2, self, other);
  constexpr double kLn2 = 0.69314718055994530942;
  const ScalarType t = result_type(self, other);
  ops::refuse_integers("logaddexp2", t);
  if (!needs_grad(self, other) && is_floating_type(t))
    return ops::floating_op("logaddexp2", logaddexp2_formula, {self, other});
  if (is_half_type(t))  // rounded once
    return named("Logaddexp2Backward0", logaddexp2(self.to(kFloat), other.to(kFloat)).to(t), self);
  const auto scaled = [&](const Tensor& x) { return as_floating("logaddexp2", x.to(t)) * kLn2; };
  return named("Logaddexp2Backward0", logaddexp(scaled(self), scaled(other)) * (1 / kLn2), self);
}

Tensor ldexp(const Tensor& self, const Tensor& other) {
  if (!is_floating_type(self.scalar_type()) || !is_integral_type(other.scalar_type(), true))
    return named("LdexpBackward0", self * exp2(other), self);
  // Powers that self's own type does not hold may lead to values that it does.
  return named("LdexpBackward0", (self.to(kDouble) * exp2(other.to(kDouble))).to(self.scalar_type()), self);
}
Tensor& ldexp_(Tensor& self, const Tensor& other) {
  return inplace("ldexp_", self, [&](const Tensor& x) { return ldexp(x, other); });
}

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  HB_AUTOCAST(dist, as_is, fp32, self, other, p);
  return named("DistBackward0", norm(self - other, p), self);
}

bool is_same_size(const Tensor& self, const Tensor& other) { return self.impl().sizes() == other.impl().sizes(); }

Tensor& fill_diagonal_(Tensor& self, const Scalar& fill_value, bool wrap) {
  HB_CHECK(self.dim() >= 2, "[fill_diagonal_] expected a tensor of 2 or more dimensions, got ", self.dim());
  int64_t step = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    HB_CHECK(self.dim() == 2 || self.size(d) == self.size(0),
             "[fill_diagonal_] expected dimensions of equal length, got ", self.sizes());
    step += self.stride(d);
  }
  const int64_t n = std::min(self.size(0), self.size(1));
  self.as_strided({n}, {step}, self.storage_offset()).fill_(fill_value);
  // A tall matrix: the diagonal starts again one row below where it ended.
  if (wrap && self.dim() == 2)
    for (int64_t row = self.size(1) + 1; row < self.size(0); row += self.size(1) + 1)
      self.slice(0, row).diagonal().fill_(fill_value);
  return self;
}

}  // namespace hb
