#pragma once
// Dtypes that a function does not take, as LibTorch's does not.

#include <halfbridge/tensor.h>

namespace hb::ops {

/// Throws for integers and bool.
inline void refuse_integers(const char* name, ScalarType t) {
  HB_CHECK_SUPPORTED(!is_integral_type(t, true), "[", name, "] not implemented for '", toString(t),
                     "': expected a floating dtype");
}
inline void refuse_bool(const char* name, ScalarType t) {
  HB_CHECK_SUPPORTED(t != kBool, "[", name, "] not implemented for 'Bool'");
}

}  // namespace hb::ops
