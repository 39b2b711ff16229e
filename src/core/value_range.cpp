#include "core/value_range.h"

#include <cmath>

namespace hb {

void check_value_fits(const char* name, ScalarType t, const Scalar& value) {
  if (is_differentiable_type(t) || t == kBool || value.isComplex()) return;
  if (!value.isFloatingPoint() && element_size(t) == 8) return;  // no double between that would round
  const double v = value.toDouble();
  const bool is_signed = is_signed_type(t);
  const double limit = std::ldexp(1.0, 8 * static_cast<int>(element_size(t)) - (is_signed ? 1 : 0));
  HB_CHECK(v < limit && (is_signed ? v >= -limit : v > -limit), "[", name, "] value cannot be converted to type ", t,
           " without overflow: ", value);
}

}  // namespace hb
