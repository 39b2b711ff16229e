#include <halfbridge/dtype.h>

#include <atomic>
#include <ostream>

#include <halfbridge/error.h>

#include "core/floating_default.h"

namespace hb {

const char* toString(ScalarType t) {
  switch (t) {
#define HB_NAME(T, Name) \
  case ScalarType::Name: \
    return #Name;
    HB_FORALL_DTYPES(HB_NAME)
#undef HB_NAME
#define HB_NAMED(Name)   \
  case ScalarType::Name: \
    return #Name;
    HB_FORALL_NAMED_DTYPES(HB_NAMED)
#undef HB_NAMED
    default:
      return "UNKNOWN_SCALAR";
  }
}

size_t elementSize(ScalarType t) {
  switch (t) {
#define HB_NAMED(Name)   \
  case ScalarType::Name: \
    return t == ScalarType::ComplexHalf || t == ScalarType::QInt32 ? 4 : t == ScalarType::Bits16 ? 2 : 1;
    HB_FORALL_NAMED_DTYPES(HB_NAMED)
#undef HB_NAMED
    default:
      HB_CHECK(element_size(t) > 0, "Unknown ScalarType");
      return element_size(t);
  }
}

std::ostream& operator<<(std::ostream& out, ScalarType t) { return out << toString(t); }

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == ScalarType::Undefined) return b;
  if (b == ScalarType::Undefined) return a;
  HB_CHECK(element_size(a) > 0 && element_size(b) > 0, "Promotion of ", a, " and ", b, " is not supported");
  if (is_complex_type(a) || is_complex_type(b)) return to_complex_type(promote_types(to_real_type(a), to_real_type(b)));
  const bool fa = is_floating_type(a), fb = is_floating_type(b);
  if (fa && fb) {
    if (a == kDouble || b == kDouble) return kDouble;
    return kFloat;  // float with a half type, or the two half types together
  }
  if (fa) return a;
  if (fb) return b;
  HB_CHECK(!is_wide_unsigned_type(a) && !is_wide_unsigned_type(b),
           "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ", a, " and ", b);
  if (a == kBool) return b;
  if (b == kBool) return a;
  // uint8 with a signed type needs the next wider signed type.
  if (a == kByte || b == kByte) {
    const ScalarType other = a == kByte ? b : a;
    return other == kChar ? kShort : other;
  }
  return a > b ? a : b;
}

namespace {
std::atomic<ScalarType> default_dtype{kFloat};
}
TypeMeta get_default_dtype() { return default_dtype.load(std::memory_order_relaxed); }
void set_default_dtype(ScalarType t) {
  HB_CHECK(t != ScalarType::Undefined, "[set_default_dtype] expected a dtype that tensors can have, got ", t);
  default_dtype = t;
}
ScalarType floating_default() {
  const ScalarType t = get_default_dtype();
  if (HB_UNLIKELY(!is_differentiable_type(t)))
    HB_NOT_SUPPORTED("not implemented for '", toString(t), "', which is the default dtype: expected a floating one");
  return t;
}

}  // namespace hb
