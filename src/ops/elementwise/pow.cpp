// Powers whose base or exponent is a number, and the gradients of powers.
#include <cmath>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"

#include "autograd/record.h"
#include "core/value_range.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {
namespace ops {
namespace {

/// Null where the exponent has no cheaper formula. Square roots and reciprocals are those of floating tensors.
const FormulaKernel* cheap_power(double exponent, bool floating) {
  if (exponent == 2) return &square_formula;
  if (exponent == 3) return &pow_cube_formula;
  if (!floating) return nullptr;
  if (exponent == 0.5) return &sqrt_formula;
  if (exponent == -0.5) return &rsqrt_formula;
  if (exponent == -1) return &reciprocal_formula;
  return nullptr;
}

Tensor forward(const Tensor& base, const Scalar& exponent) {
  const ScalarType t = scalar_result_type(base.scalar_type(), exponent);
  HB_CHECK(t != kBool, "[pow] is not supported for dtype Bool");
  const bool floating = is_differentiable_type(t);
  HB_CHECK(floating || exponent.toLong() >= 0, "[pow] Integers to negative integer powers are not allowed.");
  const double e = exponent.toDouble();
  if (t != kFloat) check_value_fits("pow", t, exponent);
  if (e == 0 && is_complex_type(t)) return ones_like(base, base.options().dtype(t));
  if (e == 1) return base.to(t, false, true);
  if (e == -2 && is_floating_type(t)) {  // in no half type, which squares leave early
    const ScalarType wide = compute_type(t);
    const Tensor squared = launch_new("pow", square_formula, wide, wide, {base});
    return launch_new("pow", reciprocal_formula, wide, t, {squared});
  }
  if (const FormulaKernel* cheap = cheap_power(e, floating))
    return launch_new("pow", *cheap, compute_type(t), t, {base});
  return launch_new("pow", pow_formula, compute_type(t), t, {base, exponent});
}

}  // namespace

Tensor pow_number(const Tensor& base, const Scalar& exponent) {
  if (exponent.isComplex()) return hb::pow(base, wrapped_scalar(exponent, base.device()));
  Tensor out;
  {
    NoGradGuard no_history;  // the copy for exponent 1 must not record a history of its own
    out = forward(base, exponent);
  }
  if (!needs_grad(base)) return out;
  record("PowBackward0", out, {&base}, {SavedTensor::input(base)}, [exponent](Backward& b, auto& s) -> variable_list {
    const double e = exponent.toDouble();
    if (e == 0) return gradients(zeros_like(b.grad()));
    if (e == 1) return gradients(b.grad());
    if (e == 2) return gradients(b.grad() * hb::conj(s[0] * 2));
    const Scalar lower = exponent.isFloatingPoint() ? Scalar(e - 1) : Scalar(exponent.toLong() - 1);
    return gradients(b.grad() * hb::conj(hb::pow(s[0], lower) * exponent));
  });
  return out;
}

}  // namespace ops

Tensor pow(const Scalar& self, const Tensor& exponent) {
  HB_AUTOCAST(pow, as_is, fp32, self, exponent);
  const ScalarType t = ops::scalar_result_type(exponent.scalar_type(), self);
  if (is_complex_type(t)) return hb::pow(wrapped_scalar(self, exponent.device()), exponent);
  HB_CHECK(t != kBool, "[pow] is not supported for dtype Bool");
  Tensor out = ops::launch_new("pow", pow_formula, compute_type(t), t, {self, exponent});
  if (needs_grad(exponent))
    record("PowBackward2", out, {&exponent}, {SavedTensor::input(exponent), SavedTensor::output(out)},
           [self](Backward& b, auto& s) -> variable_list {
             const double base = self.toDouble();
             if (base == 0) return ops::gradients(masked_fill(b.grad() * (s[1] * Scalar(std::log(0.0))), s[0] >= 0, 0));
             return ops::gradients(b.grad() * (s[1] * Scalar(std::log(base))));
           });
  return out;
}

Tensor pow_backward_self(const Tensor& grad, const Tensor& base, const Tensor& exponent) {
  return where(exponent == 0, Scalar(0.0), grad * conj(exponent * hb::pow(base, exponent - 1)));
}

Tensor pow_backward_exponent(const Tensor& grad, const Tensor& base, const Tensor& exponent, const Tensor& result) {
  const Tensor flat = logical_and(base == 0, real(exponent) >= 0);
  // Of a negative base the logarithm is complex where the result is.
  return where(flat, Scalar(0.0),
               grad * conj(result * log(result.is_complex() ? base.to(result.scalar_type()) : base)));
}

}  // namespace hb
