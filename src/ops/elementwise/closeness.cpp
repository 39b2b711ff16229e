// Comparisons of whole tensors.
#include <halfbridge/ops.h>

#include "backend/equal.h"

#include "autograd/record.h"
#include "core/function_watch.h"
#include "core/value_range.h"
#include "ops/common/inplace.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {
namespace {

// The formula is one of real numbers.
Tensor complex_isclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  const Tensor apart = (a - b).abs();
  Tensor close = (a == b).logical_or_(isfinite(apart).logical_and_(apart <= b.abs() * rtol + atol));
  return equal_nan ? close.logical_or_(isnan(a).logical_and_(isnan(b))) : close;
}

}  // namespace

Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  HB_DEFINED(isclose, self, other);
  HB_CHECK(self.scalar_type() == other.scalar_type(), "[isclose] ", toString(self.scalar_type()), " did not match ",
           toString(other.scalar_type()));
  HB_CHECK(rtol >= 0, "[isclose] rtol must be greater than or equal to zero, but got ", rtol);
  HB_CHECK(atol >= 0, "[isclose] atol must be greater than or equal to zero, but got ", atol);
  const ScalarType t = self.scalar_type();
  if (is_complex_type(t)) return complex_isclose(self.detach(), other.detach(), rtol, atol, equal_nan);
  if (rtol == 0 && atol == 0 && is_integral_type(t, true)) return eq(self, other);  // doubles do not hold all of them
  const ScalarType compute = is_floating_type(t) ? compute_type(t) : kDouble;
  const double p[] = {rtol, atol, equal_nan ? 1.0 : 0.0};
  return ops::launch_new("isclose", isclose_formula, compute, kBool, {self, other}, p);
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return isclose(self, other, rtol, atol, equal_nan).all().item().toBool();
}

namespace {
/// Elements that lie in one place, and of which none differs from itself, as NaN does.
bool share_numbers(const Tensor& a, const Tensor& b) {
  return is_integral_type(a.scalar_type(), true) && a.storage_offset() == b.storage_offset() &&
         a.strides() == b.strides() && a.is_alias_of(b);
}
}  // namespace

bool equal(const Tensor& self, const Tensor& other) {
  if (self.sizes() != other.sizes()) return false;
  const bool dense = self.layout() == kStrided && other.layout() == kStrided;
  if (dense && self.scalar_type() == other.scalar_type() && self.device() == other.device())
    return share_numbers(self, other) || equal_kernel(self.device())(self.contiguous(), other.contiguous());
  return self.eq(other).all().item().toBool();
}

}  // namespace hb
