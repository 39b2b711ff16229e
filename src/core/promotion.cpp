#include <halfbridge/ops/combine.h>

#include "core/loop.h"

namespace hb {

ScalarType result_type(const Tensor& a, const Tensor& b) { return result_type_of({&a, &b}); }
ScalarType result_type(const Scalar& a, const Tensor& b) { return result_type(b, a); }
ScalarType result_type(const Tensor& a, const Scalar& b) {
  const Tensor number = wrapped_scalar(b, a.device());
  return result_type_of({&a, &number});
}

// Floating to integral, and anything but bool to bool, would lose what the value is.
bool can_cast(ScalarType from, ScalarType to) {
  if (is_complex_type(from) && !is_complex_type(to)) return false;
  if (is_floating_type(from) && is_integral_type(to, false)) return false;
  return from == kBool || to != kBool;
}

bool is_floating_point(const Tensor& self) { return self.is_floating_point(); }

}  // namespace hb
