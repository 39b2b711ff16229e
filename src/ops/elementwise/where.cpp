// Choices between values: where and masked_fill.
#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/function_watch.h"
#include "core/value_range.h"
#include "core/warnings.h"
#include "ops/common/inplace.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {
namespace {

using ops::gradients;
using ops::Input;

void check_condition(const char* name, const Tensor& condition) {
  HB_CHECK(condition.scalar_type() == kBool || condition.scalar_type() == kByte, "[", name,
           "] expected condition to be a boolean tensor, got ", toString(condition.scalar_type()));
  if (condition.scalar_type() == kByte)
    HB_WARN_ONCE(name, " received a uint8 condition tensor. This behavior is deprecated: use a boolean condition.");
}

/// The promoted dtype of two choices, one or both of which may be numbers.
ScalarType choice_type(const Input& a, const Input& b) {
  if (a.tensor && b.tensor) return ops::promoted({a, b});
  if (a.tensor || b.tensor) return ops::promoted({a, b});
  const auto of = [](const Scalar& s) { return s.isFloatingPoint() ? get_default_dtype().toScalarType() : s.type(); };
  return promote_types(of(a.number), of(b.number));
}

Tensor choose(const Tensor& condition, const Input& a, const Input& b) {
  check_condition("where", condition);
  const ScalarType t = choice_type(a, b);
  for (const Input* in : {&a, &b})
    if (!in->tensor) check_factor_fits("where", t, in->number);
  return ops::launch_new("where", where_formula, compute_type(t), t, {condition, a, b});
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
  // Contiguous whatever the layout of self, as programs that view the result rely on.
  return ops::launch_new("masked_fill", where_formula, compute_type(t), t, {mask, value, self}).contiguous();
}

void check_value(const char* name, const Tensor& value) {
  HB_CHECK(value.dim() == 0, "[", name, "] only supports a 0-dimensional value tensor, but got tensor with ",
           value.dim(), " dimension(s).");
}

Tensor& masked_fill_direct(Tensor& self, const Tensor& mask, const Input& value) {
  check_mask("masked_fill_", mask);
  const ScalarType t = self.scalar_type();
  return ops::launch_inplace("masked_fill_", where_formula, compute_type(t), t, self, {mask, value, self});
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
  if (value.scalar_type() != self.scalar_type()) check_value_fits("masked_fill", self.scalar_type(), value.item());
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
  if (value.scalar_type() != self.scalar_type()) check_value_fits("masked_fill_", self.scalar_type(), value.item());
  if (needs_grad(self, value))
    return inplace("masked_fill_", self, [&](const Tensor& old) { return masked_fill(old, mask, value); }, nullptr,
                   {&mask, &value});
  return masked_fill_direct(self, mask, value);
}

}  // namespace hb
