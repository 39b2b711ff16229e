// Choices between values: where, masked_fill, clamp, nan_to_num; and comparisons of whole tensors.
#include <limits>

#include <halfbridge/ops.h>

#include "autocast/function_watch.h"
#include "autograd/record.h"
#include "core/value_range.h"
#include "ops/elementwise_op.h"

namespace hb {
namespace {

using ops::gradients;
using ops::Input;

void check_condition(const char* name, const Tensor& condition) {
  HB_CHECK(condition.scalar_type() == kBool || condition.scalar_type() == kByte, "[", name,
           "] expected condition to be a boolean tensor, got ", toString(condition.scalar_type()));
}

/// The promoted dtype of two choices of which one or both may be numbers.
ScalarType choice_type(const Input& a, const Input& b) {
  if (a.tensor && b.tensor) return ops::promoted({a, b});
  if (a.tensor || b.tensor) return ops::promoted({a, b});
  const auto of = [](const Scalar& s) { return s.isFloatingPoint() ? get_default_dtype() : s.type(); };
  return promote_types(of(a.number), of(b.number));
}

Tensor choose(const Tensor& condition, const Input& a, const Input& b) {
  check_condition("where", condition);
  const ScalarType t = choice_type(a, b);
  return ops::launch_new("where", where_formula(condition.device())(), compute_type(t), t, {condition, a, b});
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  HB_FUNCTION(where, condition, self, other);
  Tensor out = choose(condition, self, other);
  if (needs_grad(self, other))
    record("WhereBackward0", out, {&self, &other}, {SavedTensor::input(condition)}, [](Backward& b, auto& s) {
      return gradients(b.needs(0) ? where(s[0], b.grad(), Scalar(0)) : Tensor(),
                       b.needs(1) ? where(s[0], Scalar(0), b.grad()) : Tensor());
    });
  return out;
}

Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  HB_FUNCTION(where, condition, self, other);
  Tensor out = choose(condition, self, other);
  if (needs_grad(other))
    record("WhereBackward0", out, {&other}, {SavedTensor::input(condition)},
           [](Backward& b, auto& s) { return gradients(where(s[0], Scalar(0), b.grad())); });
  return out;
}

Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  HB_FUNCTION(where, condition, self, other);
  Tensor out = choose(condition, self, other);
  if (needs_grad(self))
    record("WhereBackward0", out, {&self}, {SavedTensor::input(condition)},
           [](Backward& b, auto& s) { return gradients(where(s[0], b.grad(), Scalar(0))); });
  return out;
}

Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  HB_FUNCTION(where, condition, self, other);
  return choose(condition, self, other);
}
std::vector<Tensor> where(const Tensor& condition) { return condition.nonzero().unbind(1); }

// --- masked_fill

namespace {

void check_mask(const char* name, const Tensor& mask) {
  HB_CHECK(mask.scalar_type() == kBool, "[", name,
           "] expected BoolTensor for mask: only supports boolean masks, but got mask with dtype ",
           toString(mask.scalar_type()));
}

/// The number as masked_fill writes it; a number that is not 0 is true.
Scalar filling(const char* name, const Tensor& self, const Scalar& value) {
  check_value_fits(name, self.scalar_type(), value);
  return self.scalar_type() == kBool ? Scalar(value.toBool()) : value;
}

Tensor masked_fill_forward(const Tensor& self, const Tensor& mask, const Input& value) {
  check_mask("masked_fill", mask);
  const ScalarType t = self.scalar_type();
  return ops::launch_new("masked_fill", where_formula(self.device())(), compute_type(t), t, {mask, value, self});
}

void check_value(const char* name, const Tensor& value) {
  HB_CHECK(value.dim() == 0, "[", name, "] only supports a 0-dimensional value tensor, but got tensor with ",
           value.dim(), " dimension(s).");
}

Tensor& masked_fill_direct(Tensor& self, const Tensor& mask, const Input& value) {
  check_mask("masked_fill_", mask);
  const ScalarType t = self.scalar_type();
  return ops::launch_inplace("masked_fill_", where_formula(self.device())(), compute_type(t), t, self,
                             {mask, value, self});
}

}  // namespace

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  HB_FUNCTION(masked_fill, self, mask, value);
  Tensor out = masked_fill_forward(self, mask, filling("masked_fill", self, value));
  if (needs_grad(self))
    record("MaskedFillBackward0", out, {&self}, {SavedTensor::input(mask)},
           [](Backward& b, auto& s) { return gradients(masked_fill(b.grad(), s[0], 0)); });
  return out;
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  HB_FUNCTION(masked_fill, self, mask, value);
  check_value("masked_fill", value);
  HB_CHECK(can_cast(value.scalar_type(), self.scalar_type()), "[masked_fill] value cannot be converted from ",
           toString(value.scalar_type()), " to ", toString(self.scalar_type()));
  Tensor out = masked_fill_forward(self, mask, value);
  if (needs_grad(self, value))
    record("MaskedFillBackward1", out, {&self, &value}, {SavedTensor::input(mask)}, [](Backward& b, auto& s) {
      return gradients(b.needs(0) ? masked_fill(b.grad(), s[0], 0) : Tensor(),
                       b.needs(1) ? where(s[0], b.grad(), Scalar(0)).sum() : Tensor());
    });
  return out;
}

Tensor& masked_fill_(Tensor& self, const Tensor& mask, const Scalar& value) {
  HB_FUNCTION(masked_fill_, self, mask, value);
  if (needs_grad(self))
    return inplace("masked_fill_", self, [&](const Tensor& old) { return masked_fill(old, mask, value); }, nullptr,
                   {&mask});
  return masked_fill_direct(self, mask, filling("masked_fill_", self, value));
}

Tensor& masked_fill_(Tensor& self, const Tensor& mask, const Tensor& value) {
  HB_FUNCTION(masked_fill_, self, mask, value);
  check_value("masked_fill_", value);
  if (needs_grad(self, value))
    return inplace("masked_fill_", self, [&](const Tensor& old) { return masked_fill(old, mask, value); }, nullptr,
                   {&mask, &value});
  return masked_fill_direct(self, mask, value);
}

// --- clamp

namespace {

/// Bounds given as numbers; what is left out is infinite.
struct Bounds {
  std::optional<Scalar> low, high;
};

ScalarType clamp_type(const char* name, const Tensor& self, const Bounds& b) {
  HB_CHECK(b.low || b.high, "[", name, "] At least one of 'min' or 'max' must not be None");
  ScalarType t = self.scalar_type();
  if (b.low) t = ops::scalar_result_type(t, *b.low);
  if (b.high) t = ops::scalar_result_type(t, *b.high);
  HB_CHECK(t != kBool, "[", name, "] is not supported for dtype Bool");
  return t;
}

Tensor clamp_gradient(const Tensor& g, const Tensor& x, const Bounds& b) {
  const double inf = std::numeric_limits<double>::infinity();
  const double p[] = {b.low ? b.low->toDouble() : -inf, b.high ? b.high->toDouble() : inf, 0};
  Tensor out = ops::floating_op("clamp_backward", inside_formula, {g, x}, p);
  if (needs_grad(g))
    record("ClampBackward", out, {&g}, {SavedTensor::input(x)},
           [b](Backward& c, auto& s) { return gradients(clamp_gradient(c.grad(), s[0], b)); });
  return out;
}

Tensor clamp_numbers(const Tensor& self, const Bounds& b) {
  const ScalarType t = clamp_type("clamp", self, b);
  const ScalarType c = compute_type(t);
  const Device device = self.device();
  Tensor out = b.low && b.high ? ops::launch_new("clamp", clamp_formula(device)(), c, t, {self, *b.low, *b.high})
               : b.low         ? ops::launch_new("clamp", clamp_low_formula(device)(), c, t, {self, *b.low})
                               : ops::launch_new("clamp", clamp_high_formula(device)(), c, t, {self, *b.high});
  if (needs_grad(self))
    record(b.low && b.high ? "ClampBackward1"
           : b.low         ? "ClampMinBackward0"
                           : "ClampMaxBackward0",
           out, {&self}, {SavedTensor::input(self)},
           [b](Backward& k, auto& s) { return gradients(clamp_gradient(k.grad(), s[0], b)); });
  return out;
}

Tensor& clamp_numbers_(const char* name, Tensor& self, const Bounds& b) {
  if (needs_grad(self)) return inplace(name, self, [&](const Tensor& old) { return clamp_numbers(old, b); });
  const ScalarType t = clamp_type(name, self, b), c = compute_type(t);
  const Device device = self.device();
  if (b.low && b.high) return ops::launch_inplace(name, clamp_formula(device)(), c, t, self, {self, *b.low, *b.high});
  if (b.low) return ops::launch_inplace(name, clamp_low_formula(device)(), c, t, self, {self, *b.low});
  return ops::launch_inplace(name, clamp_high_formula(device)(), c, t, self, {self, *b.high});
}

}  // namespace

Tensor clamp(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  HB_FUNCTION(clamp, self, min, max);
  return clamp_numbers(self, {min, max});
}
Tensor& clamp_(Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  HB_FUNCTION(clamp_, self, min, max);
  return clamp_numbers_("clamp_", self, {min, max});
}
Tensor& clamp_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  return assign_out("clamp_out", out, clamp(self, min, max));
}
Tensor clip(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  HB_FUNCTION(clip, self, min, max);
  return clamp_numbers(self, {min, max});
}
Tensor& clip_(Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  HB_FUNCTION(clip_, self, min, max);
  return clamp_numbers_("clip_", self, {min, max});
}
Tensor clamp_min(const Tensor& self, const Scalar& min) {
  HB_FUNCTION(clamp_min, self, min);
  return clamp_numbers(self, {min, std::nullopt});
}
Tensor clamp_max(const Tensor& self, const Scalar& max) {
  HB_FUNCTION(clamp_max, self, max);
  return clamp_numbers(self, {std::nullopt, max});
}
Tensor& clamp_min_(Tensor& self, const Scalar& min) {
  HB_FUNCTION(clamp_min_, self, min);
  return clamp_numbers_("clamp_min_", self, {min, std::nullopt});
}
Tensor& clamp_max_(Tensor& self, const Scalar& max) {
  HB_FUNCTION(clamp_max_, self, max);
  return clamp_numbers_("clamp_max_", self, {std::nullopt, max});
}

Tensor clamp_min(const Tensor& self, const Tensor& min) {
  HB_FUNCTION(clamp_min, self, min);
  return clamp(self, min, std::nullopt);
}
Tensor clamp_max(const Tensor& self, const Tensor& max) {
  HB_FUNCTION(clamp_max, self, max);
  return clamp(self, std::nullopt, max);
}

Tensor& clamp_(Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  return inplace("clamp_", self, [&](const Tensor& old) { return clamp(old, min, max); }, nullptr,
                 {min ? &*min : &self, max ? &*max : &self});
}
Tensor& clamp_min_(Tensor& self, const Tensor& min) { return clamp_(self, min, std::nullopt); }
Tensor& clamp_max_(Tensor& self, const Tensor& max) { return clamp_(self, std::nullopt, max); }

Tensor clamp(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  HB_FUNCTION(clamp, self, min, max);
  HB_CHECK(min || max, "[clamp] At least one of 'min' or 'max' must not be None");
  const Tensor low = min.value_or(Tensor()), high = max.value_or(Tensor());
  const ScalarType t = min && max ? ops::promoted({self, low, high}) : ops::promoted({self, min ? low : high});
  const ScalarType c = compute_type(t);
  const Device device = self.device();
  Tensor out = min && max ? ops::launch_new("clamp", clamp_formula(device)(), c, t, {self, low, high})
               : min      ? ops::launch_new("clamp", clamp_low_formula(device)(), c, t, {self, low})
                          : ops::launch_new("clamp", clamp_high_formula(device)(), c, t, {self, high});
  if (needs_grad(self, low, high))
    record(min && max ? "ClampBackward0"
           : min      ? "ClampMinBackward1"
                      : "ClampMaxBackward1",
           out, {&self, &low, &high}, {SavedTensor::input(self), SavedTensor::input(low), SavedTensor::input(high)},
           [](Backward& b, auto& s) {
             // A bound that was used has the gradient; the upper one wins where they cross.
             const Tensor &x = s[0], &l = s[1], &h = s[2], &g = b.grad();
             const Tensor under = l.defined() ? x < l : Tensor(), over = h.defined() ? x > h : Tensor();
             Tensor gx = g, gl, gh;
             if (l.defined()) gx = masked_fill(gx, under, 0);
             if (h.defined()) gx = masked_fill(gx, over, 0);
             if (l.defined() && b.needs(1)) gl = where(h.defined() ? logical_and(under, l < h) : under, g, Scalar(0));
             if (h.defined() && b.needs(2)) gh = where(l.defined() ? logical_or(over, h < l) : over, g, Scalar(0));
             return gradients(std::move(gx), std::move(gl), std::move(gh));
           });
  return out;
}

// --- rounding and repair

Tensor round(const Tensor& self, int64_t decimals) {
  if (decimals == 0) return round(self);
  HB_CHECK(self.is_floating_point(), "[round] decimals: expected a floating tensor, got ",
           toString(self.scalar_type()));
  double power = 1;
  for (int64_t i = 0; i < std::abs(decimals); ++i) power *= 10;
  const double p[] = {power, decimals < 0 ? 1.0 : 0.0};
  Tensor out = ops::floating_op("round", round_decimals_formula, {self}, p);
  if (needs_grad(self))
    record("RoundBackward1", out, {&self}, [](Backward& b) { return gradients(zeros_like(b.grad())); });
  return out;
}

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  HB_FUNCTION(nan_to_num, self, nan, posinf, neginf);
  if (self.is_complex()) return view_as_complex(nan_to_num(view_as_real(self), nan, posinf, neginf));
  const ScalarType t = self.scalar_type();
  if (is_integral_type(t, true)) return self.clone();
  const double p[] = {nan.value_or(0), posinf.value_or(largest_of(t)), neginf.value_or(-largest_of(t))};
  Tensor out = ops::launch_new("nan_to_num", nan_to_num_formula(self.device())(), compute_type(t), t, {self}, p);
  if (needs_grad(self))
    record("NanToNumBackward0", out, {&self}, {SavedTensor::input(self)},
           [](Backward& b, auto& s) { return gradients(where(isfinite(s[0]), b.grad(), Scalar(0))); });
  return out;
}

Tensor& nan_to_num_(Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                    std::optional<double> neginf) {
  return inplace("nan_to_num_", self, [&](const Tensor& old) { return nan_to_num(old, nan, posinf, neginf); });
}

Tensor polygamma(const Tensor& self, int64_t n) {
  HB_CHECK(n >= 0, "[polygamma] polygamma(n, x) does not support negative n, got ", n);
  if (n == 0) return digamma(self);
  const double p[] = {static_cast<double>(n)};
  Tensor out = ops::floating_op("polygamma", polygamma_formula, {self}, p);
  if (needs_grad(self))
    record("PolygammaBackward0", out, {&self}, {SavedTensor::input(self)},
           [n](Backward& b, auto& s) { return gradients(b.grad() * polygamma(s[0], n + 1)); });
  return out;
}

Tensor extremum_share(const Tensor& a, const Tensor& b) {
  return where(a == b, Scalar(0.5), Scalar(1.0)).to(ops::floating_result(ops::promoted({a, b})));
}

// --- comparisons of whole tensors

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  HB_CHECK(self.scalar_type() == other.scalar_type(), "[isclose] ", toString(self.scalar_type()), " did not match ",
           toString(other.scalar_type()));
  HB_CHECK(rtol >= 0, "[isclose] rtol must be greater than or equal to zero, but got ", rtol);
  HB_CHECK(atol >= 0, "[isclose] atol must be greater than or equal to zero, but got ", atol);
  const ScalarType t = self.scalar_type();
  const ScalarType compute = is_floating_type(t) ? compute_type(t) : kDouble;
  const double p[] = {rtol, atol, equal_nan ? 1.0 : 0.0};
  return ops::launch_new("isclose", isclose_formula(self.device())(), compute, kBool, {self, other}, p);
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return isclose(self, other, rtol, atol, equal_nan).all().item().toBool();
}

bool equal(const Tensor& self, const Tensor& other) {
  if (self.sizes() != other.sizes()) return false;
  return self.eq(other).all().item().toBool();
}

}  // namespace hb
