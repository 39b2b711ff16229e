// Sums and differences with a factor, and division with a rounding mode.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/value_range.h"
#include "ops/common/inplace.h"
#include "ops/common/refused_dtypes.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/sparse/sparse.h"

namespace hb {
namespace {

using ops::gradients;
using ops::Input;

bool is_one(const Scalar& s) {
  if (s.isIntegral(true)) return s.toLong() == 1;
  return s.isComplex() ? s.toComplexDouble() == 1. : s.toDouble() == 1;
}

/// Whether the kernels' factor, a double, does not hold this one.
bool is_wide(const Scalar& factor) {
  constexpr int64_t kExact = int64_t{1} << 53;
  if (factor.isComplex()) return factor.toComplexDouble().imag() != 0;
  return factor.isIntegral(false) && (factor.toLong() > kExact || factor.toLong() < -kExact);
}

void check_alpha(const char* name, ScalarType t, const Scalar& alpha) {
  HB_CHECK(!alpha.isBoolean() || t == kBool, "[", name, "] Boolean alpha only supported for Boolean results.");
  HB_CHECK(is_differentiable_type(t) || alpha.isIntegral(true), "[", name,
           "] For integral input tensors, argument alpha must not be a floating point number.");
  HB_CHECK(!alpha.isComplex() || is_complex_type(t), "[", name,
           "] For non-complex input tensors, argument alpha must not be a complex number.");
}

void check_not_bools(const char* name, const Tensor& a, const Input& b) {
  const bool other = b.tensor ? b.tensor->scalar_type() == kBool : b.number.isBoolean();
  HB_CHECK(a.scalar_type() != kBool || !other, "[", name,
           "] Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
           "operator "
           "instead.");
  HB_CHECK(
      a.scalar_type() != kBool && !other, "[", name,
      "] Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
      "the `~` or `logical_not()` operator instead.");
}

/// a + sign alpha b; what every form of add and sub comes to.
struct Sum {
  const FormulaKernel* formula;
  ScalarType t;
  double factor;
};

Sum plan(const char* name, const Tensor& a, const Input& b, const Scalar& alpha, bool negative) {
  const ScalarType t = ops::promoted({a, b});
  if (negative) check_not_bools(name, a, b);
  check_alpha(name, t, alpha);
  if (HB_LIKELY(is_one(alpha))) return {negative ? &sub_formula : &add_formula, t, 1};
  check_value_fits(name, t, alpha);
  return {&add_scaled_formula, t, negative ? -alpha.toDouble() : alpha.toDouble()};
}

void attach(const char* node, Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, bool negative) {
  record(node, out, {&a, &b}, [alpha, negative](Backward& c) {
    Tensor gb;
    if (c.needs(1)) {
      gb = is_one(alpha) ? c.grad() : c.grad() * alpha.conj();
      if (negative) gb = neg(gb);
    }
    return gradients(c.needs(0) ? c.grad() : Tensor(), std::move(gb));
  });
}

void attach(const char* node, Tensor& out, const Tensor& a) {
  record(node, out, {&a}, [](Backward& c) { return gradients(c.grad()); });
}

Scalar negated(const Scalar& s) { return s.isBoolean() ? Scalar(-s.toLong()) : -s; }

/// The second operand times a wide factor, in the dtype of the sum.
template <class B>
Tensor multiplied(const char* name, const Tensor& a, const B& b, const Scalar& alpha) {
  const ScalarType t = ops::promoted({a, b});
  check_alpha(name, t, alpha);
  check_value_fits(name, t, alpha);
  const NoGradGuard no_grad;
  if constexpr (std::is_same_v<B, Tensor>)
    return hb::mul(b.to(t), alpha);
  else
    return hb::mul(scalar_tensor(b, a.options().dtype(t)), alpha);
}

template <class B>
Tensor sum(const char* name, const char* node, const Tensor& a, const B& b, const Scalar& alpha, bool negative) {
  if constexpr (std::is_same_v<B, Tensor>)
    if (HB_UNLIKELY(sparse::either(a, b))) return sparse::add(a, b, negative ? negated(alpha) : alpha);
  Tensor out;
  if (HB_UNLIKELY(is_wide(alpha))) {
    const NoGradGuard no_grad;
    out = sum(name, node, a, multiplied(name, a, b, alpha), 1, negative);
  } else {
    const Sum p = plan(name, a, b, alpha, negative);
    out = ops::launch_new(name, *p.formula, compute_type(p.t), p.t, {a, b}, p.factor);
  }
  if constexpr (std::is_same_v<B, Tensor>) {
    if (HB_UNLIKELY(needs_grad(a, b))) attach(node, out, a, b, alpha, negative);
  } else {
    if (HB_UNLIKELY(needs_grad(a))) attach(node, out, a);
  }
  return out;
}

template <class B>
Tensor& sum_inplace(const char* name, const char* node, Tensor& a, const B& b, const Scalar& alpha, bool negative) {
  const auto compute = [&](const Tensor& old) { return sum(name, node, old, b, alpha, negative); };
  if constexpr (std::is_same_v<B, Tensor>) {
    if (HB_UNLIKELY(sparse::either(a, b))) return sparse::add_(a, b, negative ? negated(alpha) : alpha);
    if (HB_UNLIKELY(needs_grad(a, b))) return inplace(name, a, compute, nullptr, {&b});
  } else {
    if (HB_UNLIKELY(needs_grad(a))) return inplace(name, a, compute);
  }
  if (HB_UNLIKELY(is_wide(alpha)))
    return sum_inplace(name, node, a, multiplied(name, a, b, alpha), Scalar(1), negative);
  const Sum p = plan(name, a, b, alpha, negative);
  return ops::launch_inplace(name, *p.formula, compute_type(p.t), p.t, a, {a, b}, p.factor);
}

Tensor& sum_out(const char* name, const char* node, Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha,
                bool negative) {
  if (HB_UNLIKELY(is_wide(alpha))) return assign_out(name, out, sum(name, node, a, b, alpha, negative));
  const Sum p = plan(name, a, b, alpha, negative);
  if (!ops::writes_into(name, out, a, b, p.t)) return assign_out(name, out, sum(name, node, a, b, alpha, negative));
  ops::launch(*p.formula, compute_type(p.t), out, {a, b}, p.factor);
  out.impl().bump_version();
  return out;
}

}  // namespace

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  HB_AUTOCAST(add, as_is, as_is, self, other, alpha);
  return sum("add", "AddBackward0", self, other, alpha, false);
}
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  HB_FUNCTION(add, self, other, alpha);
  return sum("add", "AddBackward1", self, other, alpha, false);
}
Tensor& add_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  HB_FUNCTION(add_, self, other, alpha);
  return sum_inplace("add_", "AddBackward0", self, other, alpha, false);
}
Tensor& add_(Tensor& self, const Scalar& other, const Scalar& alpha) {
  HB_FUNCTION(add_, self, other, alpha);
  return sum_inplace("add_", "AddBackward1", self, other, alpha, false);
}
Tensor& add_out(Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return sum_out("add_out", "AddBackward0", out, self, other, alpha, false);
}
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  HB_AUTOCAST(sub, as_is, as_is, self, other, alpha);
  return sum("sub", "SubBackward0", self, other, alpha, true);
}
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  HB_FUNCTION(sub, self, other, alpha);
  return sum("sub", "SubBackward1", self, other, alpha, true);
}
Tensor& sub_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  HB_FUNCTION(sub_, self, other, alpha);
  return sum_inplace("sub_", "SubBackward0", self, other, alpha, true);
}
Tensor& sub_(Tensor& self, const Scalar& other, const Scalar& alpha) {
  HB_FUNCTION(sub_, self, other, alpha);
  return sum_inplace("sub_", "SubBackward1", self, other, alpha, true);
}
Tensor& sub_out(Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return sum_out("sub_out", "SubBackward0", out, self, other, alpha, true);
}
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  HB_FUNCTION(rsub, self, other, alpha);
  return sub(other, self, alpha);
}
namespace {

/// other - alpha self; `node` is the name of its graph node.
Tensor subtracted_from(const char* node, const Tensor& self, const Scalar& other, const Scalar& alpha) {
  HB_FUNCTION(rsub, self, other, alpha);
  const ScalarType t = ops::promoted({self, other});
  check_not_bools("rsub", self, other);
  HB_CHECK(
      self.scalar_type() != kBool,
      "[rsub] Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
      "use the `~` or `logical_not()` operator instead.");
  check_alpha("rsub", t, alpha);
  if (HB_UNLIKELY(is_wide(alpha))) return named(node, hb::add(hb::mul(self, negated(alpha)), other), self);
  const double factor = alpha.toDouble();
  Tensor out = is_one(alpha) ? ops::launch_new("rsub", sub_formula, compute_type(t), t, {other, self})
                             : ops::launch_new("rsub", rsub_scaled_formula, compute_type(t), t, {self, other}, factor);
  if (needs_grad(self))
    record(node, out, {&self},
           [alpha](Backward& c) { return gradients(is_one(alpha) ? neg(c.grad()) : neg(c.grad()) * alpha); });
  return out;
}

}  // namespace

Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return subtracted_from("RsubBackward1", self, other, alpha);
}

// --- division with a rounding mode

namespace {

template <class B>
Tensor rounded_quotient(const Tensor& a, const B& b, std::optional<std::string_view> mode) {
  constexpr const char* node = std::is_same_v<B, Tensor> ? "DivBackward2" : "DivBackward3";
  if (!mode) return named(node, div(a, b), a);
  HB_CHECK(*mode == "trunc" || *mode == "floor",
           "[div] expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *mode, "'");
  Tensor out;
  if (*mode == "floor") {
    const NoGradGuard no_grad;  // floor_divide has no gradient; that of div is 0
    out = floor_divide(a, b);
  } else {
    const ScalarType t = ops::promoted({a, b});
    HB_CHECK(t != kBool, "[div] rounding mode 'trunc' is not supported for dtype Bool");
    const auto x = ops::giving_way(t, a);
    const auto y = ops::giving_way(t, b);
    if (is_integral_type(t, true)) ops::check_no_zero("div", a, y);
    const NoGradGuard no_grad;
    if (is_half_type(t))  // the quotient is rounded to the dtype first, as in PyTorch
      out = div(a, b).trunc_();
    else
      out = ops::launch_new("div", trunc_divide_formula, compute_type(t), t, {x, y});
  }
  if constexpr (std::is_same_v<B, Tensor>) {
    if (needs_grad(a, b))
      record(node, out, {&a, &b}, [](Backward& c) { return gradients(zeros_like(c.grad()), zeros_like(c.grad())); });
  } else {
    if (needs_grad(a)) record(node, out, {&a}, [](Backward& c) { return gradients(zeros_like(c.grad())); });
  }
  return out;
}

}  // namespace

Tensor div(const Tensor& self, const Tensor& other, std::optional<std::string_view> mode) {
  HB_FUNCTION(div, self, other, mode);
  return rounded_quotient(self, other, mode);
}
Tensor div(const Tensor& self, const Scalar& other, std::optional<std::string_view> mode) {
  HB_FUNCTION(div, self, other, mode);
  return rounded_quotient(self, other, mode);
}
Tensor& div_(Tensor& self, const Tensor& other, std::optional<std::string_view> mode) {
  HB_FUNCTION(div_, self, other, mode);
  return inplace("div_", self, [&](const Tensor& old) { return rounded_quotient(old, other, mode); }, nullptr,
                 {&other});
}

Tensor& div_(Tensor& self, const Scalar& other, std::optional<std::string_view> mode) {
  HB_FUNCTION(div_, self, other, mode);
  return inplace("div_", self, [&](const Tensor& old) { return rounded_quotient(old, other, mode); });
}

namespace {
/// What elements of a tensor of this dtype and size are that is filled with the number.
Scalar filled(const char* name, const Tensor& like, const Scalar& a) {
  const ScalarType t = like.scalar_type();
  check_filling_fits(name, t, like.numel(), a);
  if (is_complex_type(t)) return a;
  const Scalar real = a.isComplex() ? Scalar(a.toComplexDouble().real()) : a;
  if (is_integral_type(t, false)) return wrapped(t, real.isFloatingPoint() ? Scalar(real.toLong()) : real);
  if (t == kHalf) return static_cast<float>(Half(real.toFloat()));
  if (t == kBFloat16) return static_cast<float>(BFloat16(real.toFloat()));
  return t == kBool ? real : Scalar(real.toDouble());
}
}  // namespace

Tensor operator-(const Scalar& a, const Tensor& b) {
  return subtracted_from("SubBackward0", b, filled("sub", b, a), 1);
}

// One division: a reciprocal may be infinite, or lose digits, where the quotient is not and does not.
Tensor operator/(const Scalar& a, const Tensor& b) {
  HB_CHECK(is_differentiable_type(b.scalar_type()), "[div] result type ", get_default_dtype().toScalarType(),
           " can't be cast to the desired output type ", b.scalar_type(),
           ": write a / tensor.to(torch::kFloat), or torch::reciprocal(tensor) * a");
  check_filling_fits("div", b.scalar_type(), b.numel(), a);
  return hb::div(hb::full({}, a, TensorOptions(b.scalar_type()).device(b.device())), b);
}

// The result has b's dtype, to which the number is converted.
Tensor operator%(const Scalar& a, const Tensor& b) { return hb::full_like(b, a).remainder_(b); }

}  // namespace hb
