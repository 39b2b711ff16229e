// addcmul, addcdiv and lerp: products with a sum in one pass.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "core/value_range.h"
#include "ops/common/inplace.h"
#include "ops/common/refused_dtypes.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {

namespace {

using ops::gradients;
using ops::Input;

ScalarType promoted_with(const char* name, std::initializer_list<Input> inputs, const Scalar& value) {
  const ScalarType t = ops::promoted(inputs);
  ops::refuse_bool(name, t);
  check_factor_fits(name, t, value);
  return t;
}

/// Of integral tensors the value's fraction does not count.
double addcmul_factor(ScalarType t, const Scalar& value) {
  return is_differentiable_type(t) ? value.toDouble() : static_cast<double>(value.toLong());
}

Tensor addcmul_forward(const Tensor& a, const Tensor& b, const Tensor& c, const Scalar& value) {
  const ScalarType t = promoted_with("addcmul", {a, b, c}, value);
  const double factor = addcmul_factor(t, value);
  return ops::launch_new("addcmul", addcmul_formula, compute_type(t), t, {a, b, c}, factor);
}

void check_true_division(const char* name, const Tensor& dividend, const Tensor& divisor) {
  HB_CHECK(!isIntegralType(dividend.scalar_type(), true) || !isIntegralType(divisor.scalar_type(), true), "[", name,
           "] Integer division with addcdiv is no longer supported, got ", dividend.scalar_type(), " and ",
           divisor.scalar_type());
}

Tensor addcdiv_forward(const Tensor& a, const Tensor& b, const Tensor& c, const Scalar& value) {
  const ScalarType t = ops::promoted({a, b, c});
  check_true_division("addcdiv", b, c);
  check_factor_fits("addcdiv", t, value);
  const double factor = value.toDouble();
  return ops::launch_new("addcdiv", addcdiv_formula, compute_type(t), t, {a, b, c}, factor);
}

}  // namespace

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  HB_AUTOCAST(addcmul, as_is, widest, self, tensor1, tensor2, value);
  Tensor out = addcmul_forward(self, tensor1, tensor2, value);
  if (needs_grad(self, tensor1, tensor2))
    record("AddcmulBackward0", out, {&self, &tensor1, &tensor2},
           {SavedTensor::input(tensor1), SavedTensor::input(tensor2)}, [value](Backward& c, auto& s) {
             return gradients(c.needs(0) ? c.grad() : Tensor(), c.needs(1) ? c.grad() * conj(s[1] * value) : Tensor(),
                              c.needs(2) ? c.grad() * conj(s[0] * value) : Tensor());
           });
  return out;
}

Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  HB_AUTOCAST(addcdiv, as_is, widest, self, tensor1, tensor2, value);
  Tensor out = addcdiv_forward(self, tensor1, tensor2, value);
  if (needs_grad(self, tensor1, tensor2))
    record("AddcdivBackward0", out, {&self, &tensor1, &tensor2},
           {SavedTensor::input(tensor1), SavedTensor::input(tensor2)}, [value](Backward& c, auto& s) {
             return gradients(c.needs(0) ? c.grad() : Tensor(), c.needs(1) ? c.grad() * conj(value / s[1]) : Tensor(),
                              c.needs(2) ? neg(c.grad()) * conj(value * (s[0] / (s[1] * s[1]))) : Tensor());
           });
  return out;
}

Tensor& addcmul_(Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  HB_FUNCTION(addcmul_, self, tensor1, tensor2, value);
  if (needs_grad(self, tensor1, tensor2))
    return inplace("addcmul_", self, [&](const Tensor& old) { return addcmul(old, tensor1, tensor2, value); }, nullptr,
                   {&tensor1, &tensor2});
  const ScalarType t = promoted_with("addcmul_", {self, tensor1, tensor2}, value);
  const double factor = addcmul_factor(t, value);
  return ops::launch_inplace("addcmul_", addcmul_formula, compute_type(t), t, self, {self, tensor1, tensor2}, factor);
}

Tensor& addcdiv_(Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  HB_FUNCTION(addcdiv_, self, tensor1, tensor2, value);
  if (needs_grad(self, tensor1, tensor2))
    return inplace("addcdiv_", self, [&](const Tensor& old) { return addcdiv(old, tensor1, tensor2, value); }, nullptr,
                   {&tensor1, &tensor2});
  const ScalarType t = ops::promoted({self, tensor1, tensor2});
  check_true_division("addcdiv_", tensor1, tensor2);
  check_factor_fits("addcdiv_", t, value);
  const double factor = value.toDouble();
  return ops::launch_inplace("addcdiv_", addcdiv_formula, compute_type(t), t, self, {self, tensor1, tensor2}, factor);
}

namespace {

template <class W>
Tensor lerp_forward(const Tensor& self, const Tensor& end, const W& weight) {
  HB_CHECK(self.scalar_type() == end.scalar_type(), "[lerp] expected dtype ", toString(self.scalar_type()),
           " for `end`, got ", toString(end.scalar_type()));
  const ScalarType t = self.scalar_type();
  HB_CHECK_SUPPORTED(is_floating_type(t), "[lerp] expected floating tensors, got ", toString(t));
  if constexpr (std::is_same_v<W, Scalar>) {
    check_factor_fits("lerp", t, weight);
    return ops::launch_new("lerp", lerp_number_formula, compute_type(t), t, {self, end}, weight.toDouble());
  } else {
    return ops::launch_new("lerp", lerp_formula, compute_type(t), t, {self, end, weight});
  }
}

}  // namespace

Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) {
  HB_FUNCTION(lerp, self, end, weight);
  if (self.is_complex() && end.is_complex()) return self + (end - self) * weight;
  Tensor out = lerp_forward(self, end, weight);
  if (needs_grad(self, end))
    record("LerpBackward0", out, {&self, &end},
           [weight](Backward& c) { return gradients(c.grad() * Scalar(1 - weight.toDouble()), c.grad() * weight); });
  return out;
}

Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  HB_FUNCTION(lerp, self, end, weight);
  if (self.is_complex() && end.is_complex()) return self + (end - self) * weight;
  Tensor out = lerp_forward(self, end, weight);
  if (needs_grad(self, end, weight))
    record("LerpBackward1", out, {&self, &end, &weight},
           {SavedTensor::input(self), SavedTensor::input(end), SavedTensor::input(weight)}, [](Backward& c, auto& s) {
             return gradients(c.needs(0) ? c.grad() * (1 - s[2]) : Tensor(), c.needs(1) ? c.grad() * s[2] : Tensor(),
                              c.needs(2) ? c.grad() * (s[1] - s[0]) : Tensor());
           });
  return out;
}

Tensor& lerp_(Tensor& self, const Tensor& end, const Scalar& weight) {
  HB_FUNCTION(lerp_, self, end, weight);
  if (needs_grad(self, end) || (self.is_complex() && end.is_complex()))
    return inplace("lerp_", self, [&](const Tensor& old) { return lerp(old, end, weight); }, nullptr, {&end});
  HB_CHECK(self.scalar_type() == end.scalar_type() && self.is_floating_point(),
           "[lerp_] expected floating tensors of one dtype, got ", toString(self.scalar_type()), " and ",
           toString(end.scalar_type()));
  return ops::launch_inplace("lerp_", lerp_number_formula, compute_type(self.scalar_type()), self.scalar_type(), self,
                             {self, end}, weight.toDouble());
}

Tensor& lerp_(Tensor& self, const Tensor& end, const Tensor& weight) {
  HB_FUNCTION(lerp_, self, end, weight);
  return inplace("lerp_", self, [&](const Tensor& old) { return lerp(old, end, weight); }, nullptr, {&end, &weight});
}

}  // namespace hb
