// Values held within bounds, which are numbers or tensors.
#include <limits>

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/function_watch.h"
#include "core/value_range.h"
#include "ops/common/inplace.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {

using ops::gradients;

namespace {

/// Bounds given as numbers; what is left out is infinite.
struct Bounds {
  std::optional<Scalar> low, high;
};

/// Their common dtype; negative bounds of bytes wrap around.
ScalarType clamp_type(const char* name, const Tensor& self, Bounds& b) {
  HB_CHECK(b.low || b.high, "[", name, "] At least one of 'min' or 'max' must not be None");
  ScalarType t = self.scalar_type();
  if (b.low) t = ops::scalar_result_type(t, *b.low);
  if (b.high) t = ops::scalar_result_type(t, *b.high);
  HB_CHECK(t != kBool, "[", name, "] is not supported for dtype Bool");
  for (auto* bound : {&b.low, &b.high}) {
    if (!*bound) continue;
    check_value_fits(name, t, **bound);
    if (t == kByte) *bound = Scalar(wrapped(t, **bound));
  }
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

/// What f(formula, inputs) gives for the bounds that there are.
template <class F>
decltype(auto) with_formula(const Tensor& self, const Bounds& b, const F& f) {
  if (b.low && b.high) return f(clamp_formula, {self, *b.low, *b.high});
  return b.low ? f(clamp_low_formula, {self, *b.low}) : f(clamp_high_formula, {self, *b.high});
}
using Inputs = std::initializer_list<ops::Input>;

Tensor clamp_numbers(const Tensor& self, Bounds b) {
  const ScalarType t = clamp_type("clamp", self, b);
  Tensor out = with_formula(self, b, [t](const FormulaKernel& formula, Inputs inputs) {
    return ops::launch_new("clamp", formula, compute_type(t), t, inputs);
  });
  if (needs_grad(self))
    record(b.low && b.high ? "ClampBackward1"
           : b.low         ? "ClampMinBackward0"
                           : "ClampMaxBackward0",
           out, {&self}, {SavedTensor::input(self)},
           [b](Backward& k, auto& s) { return gradients(clamp_gradient(k.grad(), s[0], b)); });
  return out;
}

Tensor& clamp_numbers_(const char* name, Tensor& self, Bounds b) {
  if (needs_grad(self)) return inplace(name, self, [&](const Tensor& old) { return clamp_numbers(old, b); });
  const ScalarType t = clamp_type(name, self, b);
  return with_formula(self, b, [&](const FormulaKernel& formula, Inputs inputs) -> Tensor& {
    return ops::launch_inplace(name, formula, compute_type(t), t, self, inputs);
  });
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
  Bounds b{min, max};
  const ScalarType t = clamp_type("clamp", self, b);
  if (!ops::writes_into("clamp_out", out, self, self, t)) return assign_out("clamp_out", out, clamp(self, min, max));
  with_formula(self, b, [&](const FormulaKernel& formula, Inputs inputs) {
    ops::launch(formula, compute_type(t), out, inputs);
  });
  out.impl().bump_version();
  return out;
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
  const ScalarType t = min && max ? ops::promoted({self, *min, *max}) : ops::promoted({self, min ? *min : *max});
  const Tensor low = min ? ops::giving_way(t, *min) : Tensor(), high = max ? ops::giving_way(t, *max) : Tensor();
  const ScalarType c = compute_type(t);
  Tensor out = min && max ? ops::launch_new("clamp", clamp_formula, c, t, {self, low, high})
               : min      ? ops::launch_new("clamp", clamp_low_formula, c, t, {self, low})
                          : ops::launch_new("clamp", clamp_high_formula, c, t, {self, high});
  if (needs_grad(self, low, high))
    record(min && max ? "ClampBackward0"
           : min      ? "ClampMinBackward1"
                      : "ClampMaxBackward1",
           out, {&self, &low, &high}, {SavedTensor::input(self), SavedTensor::input(low), SavedTensor::input(high)},
           [](Backward& b, auto& s) {
             // A bound that was used has the gradient; the upper one wins where they cross.
             const Tensor &x = s[0], &l = s[1], &h = s[2], &g = b.grad();
             const bool both = l.defined() && h.defined();
             Tensor gx, gl, gh;
             if (b.needs(0))
               gx = where(both ? logical_and(x >= l, x <= h) : l.defined() ? x >= l : x <= h, g, Scalar(0));
             if (l.defined() && b.needs(1)) gl = where(both ? logical_and(x < l, l < h) : x < l, g, Scalar(0));
             if (h.defined() && b.needs(2)) gh = where(both ? logical_or(x > h, h < l) : x > h, g, Scalar(0));
             return gradients(std::move(gx), std::move(gl), std::move(gh));
           });
  return out;
}

}  // namespace hb
