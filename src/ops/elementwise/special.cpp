// Special functions (torch::special): forms and gradients. The formulas stand in src/formulas.
#include <cmath>

#include <halfbridge/ops.h>

#include "autograd/named.h"
#include "autograd/record.h"
#include "core/function_watch.h"
#include "ops/common/as_floating.h"
#include "ops/common/inplace.h"
#include "ops/common/without_gradient.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {

namespace {

using ops::gradients;

constexpr double kPi = 3.14159265358979323846, kSqrtPi = 1.77245385090551602730;

/// formula(x), with the gradient g * slope(x, y).
template <class Slope>
Tensor smooth(const char* name, const char* node, const ops::FormulaKernel& formula, const Tensor& x, Slope slope) {
  Tensor y = ops::floating_op(name, formula, {x});
  if (needs_grad(x))
    record(node, y, {&x}, {SavedTensor::input(x), SavedTensor::output(y)},
           [slope](Backward& b, auto& s) { return gradients(b.grad() * slope(s[0], s[1])); });
  return y;
}

/// value / x, and `at_zero` where x is 0.
Tensor over(const Tensor& value, const Tensor& x) { return value / x.masked_fill(x == 0, 1); }

Tensor zeta(const ops::Input& s, const ops::Input& q) {
  const ScalarType t = ops::promoted({s, q});
  HB_CHECK_SUPPORTED(!is_half_type(t), "[special_zeta] not implemented for '", toString(t), "'");
  Tensor out = ops::floating_op("special_zeta", zeta_formula, {s, q});
  const Tensor order = s.tensor ? *s.tensor : Tensor(), place = q.tensor ? *q.tensor : Tensor();
  if (needs_grad(order, place))
    record("SpecialZetaBackward0", out, {&order, &place}, {SavedTensor::input(order), SavedTensor::input(place)},
           [number = s.number, q_number = q.number](Backward& b, auto& saved) {
             if (b.needs(0)) ops::no_gradient("special_zeta", "self");
             // d/dq zeta(s, q) = -s zeta(s + 1, q)
             const Tensor g = saved[0].defined()
                                  ? -saved[0] * special_zeta(saved[0] + 1, saved[1])
                                  : special_zeta(Scalar(number.toDouble() + 1), saved[1]) * -number.toDouble();
             return gradients(Tensor(), b.grad() * g);
           });
  return out;
}

}  // namespace

Tensor special_i0e(const Tensor& self) {
  HB_FUNCTION(special_i0e, self);
  return smooth("special_i0e", "SpecialI0EBackward0", i0e_formula, self,
                [](const Tensor& x, const Tensor& y) { return special_i1e(x) - sgn(x) * y; });
}
Tensor special_i1(const Tensor& self) {
  HB_FUNCTION(special_i1, self);
  return smooth("special_i1", "SpecialI1Backward0", i1_formula, self,
                [](const Tensor& x, const Tensor& y) { return (i0(x) - over(y, x)).masked_fill(x == 0, 0.5); });
}
Tensor special_i1e(const Tensor& self) {
  HB_FUNCTION(special_i1e, self);
  return smooth("special_i1e", "SpecialI1EBackward0", i1e_formula, self, [](const Tensor& x, const Tensor& y) {
    return (special_i0e(x) - y * sgn(x) - over(y, x)).masked_fill(x == 0, 0.5);
  });
}

Tensor special_entr(const Tensor& self) {
  HB_FUNCTION(special_entr, self);
  return smooth("special_entr", "SpecialEntrBackward0", entr_formula, self,
                [](const Tensor& x, const Tensor&) { return -log(x) - 1; });
}
Tensor special_erfcx(const Tensor& self) {
  HB_FUNCTION(special_erfcx, self);
  return smooth("special_erfcx", "SpecialErfcxBackward0", erfcx_formula, self,
                [](const Tensor& x, const Tensor& y) { return x * y * 2 - 2 / kSqrtPi; });
}

Tensor special_ndtr(const Tensor& self) {
  HB_FUNCTION(special_ndtr, self);
  return erfc(self * -M_SQRT1_2) * 0.5;
}
Tensor special_log_ndtr(const Tensor& self) {
  HB_FUNCTION(special_log_ndtr, self);
  return smooth(
      "special_log_ndtr", "SpecialLogNdtrBackward0", log_ndtr_formula, self,
      [](const Tensor& x, const Tensor&) { return reciprocal(special_erfcx(x * -M_SQRT1_2)) * (M_SQRT2 / kSqrtPi); });
}
Tensor special_ndtri(const Tensor& self) {
  HB_FUNCTION(special_ndtri, self);
  return smooth("special_ndtri", "SpecialNdtriBackward0", ndtri_formula, self,
                [](const Tensor&, const Tensor& y) { return exp(y * y * 0.5) * (M_SQRT2 * kSqrtPi); });
}

Tensor special_zeta(const Tensor& self, const Tensor& other) {
  HB_FUNCTION(special_zeta, self, other);
  return zeta(self, other);
}
Tensor special_zeta(const Scalar& self, const Tensor& other) {
  HB_FUNCTION(special_zeta, self, other);
  return zeta(self, other);
}
Tensor special_zeta(const Tensor& self, const Scalar& other) {
  HB_FUNCTION(special_zeta, self, other);
  return zeta(self, other);
}

Tensor special_xlog1py(const Tensor& self, const Tensor& other) {
  HB_FUNCTION(special_xlog1py, self, other);
  const ScalarType t = ops::floating_result(ops::promoted({self, other}));
  HB_CHECK(!is_complex_type(t), "[special_xlog1py] is not supported for dtype ", t);
  const Tensor x = self.to(t), y = other.to(t);
  Tensor out;
  {
    NoGradGuard no_history;
    out = (x * log1p(y)).masked_fill(logical_and(x == 0, logical_not(isnan(y))), 0);
  }
  if (needs_grad(x, y))
    record("SpecialXlog1PyBackward0", out, {&x, &y}, {SavedTensor::input(x), SavedTensor::input(y)},
           [](Backward& b, auto& s) {
             const Tensor &g = b.grad(), &a = s[0], &c = s[1];
             const Tensor none = logical_and(a == 0, c <= -1);  // where the logarithm is not a number that counts
             return gradients(sum_to((g * log1p(c)).masked_fill(none, 0), a.sizes()),
                              sum_to(g * a / (c + 1), c.sizes()));
           });
  return out;
}
Tensor special_xlog1py(const Scalar& self, const Tensor& other) {
  return special_xlog1py(wrapped_scalar(self, other.device()), other);
}
Tensor special_xlog1py(const Tensor& self, const Scalar& other) {
  return special_xlog1py(self, wrapped_scalar(other, self.device()));
}
Tensor xlogy(const Scalar& self, const Tensor& other) {
  return named("XlogyBackward1", xlogy(wrapped_scalar(self, other.device()), other), other);
}

Tensor gamma_density(const Tensor& a, const Tensor& x) { return exp((a - 1) * log(x) - x - lgamma(a)); }

Tensor& polygamma_(Tensor& self, int64_t n) {
  return inplace("polygamma_", self, [n](const Tensor& x) { return polygamma(x, n); });
}

Tensor mvlgamma(const Tensor& self, int64_t p) {
  HB_FUNCTION(mvlgamma, self, p);
  HB_CHECK(self.scalar_type() != kBool, "[mvlgamma] The input tensor may not be a boolean tensor.");
  HB_CHECK(p >= 1, "[mvlgamma] p has to be greater than or equal to 1, got ", p);
  // The sum of lgamma(x - j / 2) for j < p, and a constant.
  const Tensor x = ops::as_floating(self);
  Tensor sum = lgamma(x);
  for (int64_t j = 1; j < p; ++j) sum = sum + lgamma(x - 0.5 * static_cast<double>(j));
  return named("MvlgammaBackward0", (sum + static_cast<double>(p * (p - 1)) * std::log(kPi) / 4).contiguous(), self);
}
Tensor& mvlgamma_(Tensor& self, int64_t p) {
  return inplace("mvlgamma_", self, [p](const Tensor& x) { return mvlgamma(x, p); });
}

// --- parts of a number

TensorTuple2 frexp(const Tensor& self) {
  HB_FUNCTION(frexp, self);
  HB_CHECK(self.is_floating_point(), "[frexp] expected a floating point dtype, got ", self.scalar_type());
  const ScalarType t = self.scalar_type();
  Tensor mantissa = ops::floating_op("frexp", frexp_mantissa_formula, {self});
  const Tensor exponent = ops::launch_new("frexp", frexp_exponent_formula, compute_type(t), kInt, {self});
  if (needs_grad(self))
    record("FrexpBackward0", mantissa, {&self}, {SavedTensor::input(exponent)},
           [](Backward& b, auto& s) { return gradients(b.grad() / exp2(s[0].to(b.grad().scalar_type()))); });
  return {mantissa, exponent};
}

namespace {
/// The next value of a half type: its bits count up with the magnitude, so it is one more or one less.
Tensor next_half(const Tensor& self, const Tensor& other) {
  const auto both = broadcast_tensors({self, other});
  const Tensor &a = both[0].contiguous(), &b = both[1];
  const ScalarType t = a.scalar_type();
  const Tensor bits = a.view(kShort), zero = a == 0;
  const Tensor outward = (b > a) == (a > 0);
  Tensor next = where(outward, bits + 1, bits - 1).to(kShort);
  // From zero to the smallest number of b's sign.
  next = where(zero, where(b > 0, full_like(bits, 1), full_like(bits, -32767)), next);
  const Tensor moved = where(a == b, b, next.view(t));
  return where(isnan(a), a, where(isnan(b), b, moved));
}
}  // namespace

Tensor nextafter(const Tensor& self, const Tensor& other) {
  HB_FUNCTION(nextafter, self, other);
  const ScalarType t = ops::promoted({self, other});
  HB_CHECK(is_floating_type(t), "[nextafter] expected a floating point dtype, got ", t);
  Tensor out = is_half_type(t) ? next_half(self.detach().to(t), other.detach().to(t))
                               : ops::floating_op("nextafter", nextafter_formula, {self, other});
  return ops::without_gradient("nextafter", out, self, other);
}
Tensor& nextafter_(Tensor& self, const Tensor& other) {
  return inplace("nextafter_", self, [&](const Tensor& x) { return nextafter(x, other); });
}

Tensor polygamma(const Tensor& self, int64_t n) {
  HB_CHECK(n >= 0, "[polygamma] polygamma(n, x) does not support negative n, got ", n);
  if (n == 0) return digamma(self);
  Tensor out;
  if (n == 1) {
    out = ops::floating_op("polygamma", trigamma_formula, {self});
  } else if (n <= 20 && !is_half_type(self.scalar_type())) {  // n! is far from the largest numbers
    out = ops::floating_op("polygamma", zeta_formula, {Scalar(static_cast<double>(n + 1)), self});
    out.mul_((n % 2 ? 1 : -1) * std::round(std::tgamma(static_cast<double>(n + 1))));
  } else {
    const double p[] = {static_cast<double>(n)};
    out = ops::floating_op("polygamma", polygamma_formula, {self}, p);
  }
  if (needs_grad(self))
    record("PolygammaBackward0", out, {&self}, {SavedTensor::input(self)},
           [n](Backward& b, auto& s) { return gradients(b.grad() * polygamma(s[0], n + 1)); });
  return out;
}

}  // namespace hb
