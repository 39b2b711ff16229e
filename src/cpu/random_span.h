#pragma once
// The element type of a RandomSpan, chosen at run time.
#include <type_traits>

#include <halfbridge/error.h>

#include "cpu/random.h"

namespace hb::cpu {

/// Calls `f` with a pointer of the element type.
template <typename F>
void with_type(const char* op, RandomSpan span, F f) {
  switch (span.dtype) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return f(static_cast<T*>(span.data));
    HB_FORALL_REAL_DTYPES(HB_CASE)
    HB_FORALL_WIDE_UNSIGNED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_CHECK(false, "[", op, "] expected a tensor type, got ", span.dtype);
  }
}

template <typename F>
void with_floating_type(const char* op, RandomSpan span, F f) {
  switch (span.dtype) {
    case kFloat:
      return f(static_cast<float*>(span.data));
    case kDouble:
      return f(static_cast<double*>(span.data));
    case kHalf:
      return f(static_cast<Half*>(span.data));
    case kBFloat16:
      return f(static_cast<BFloat16*>(span.data));
    default:
      detail::fail<NotImplementedError>("\"", op, "\" not implemented for '", toString(span.dtype), "'");
  }
}

template <typename T>
T from_double(double value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

}  // namespace hb::cpu
