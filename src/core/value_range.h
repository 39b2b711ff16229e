#pragma once

#include <halfbridge/scalar.h>

namespace hb {

/// For a value to be written into a tensor of dtype t: a fraction is cut off in integer dtypes, what lies outside their
/// range is an error, but that negative numbers wrap in unsigned dtypes, as in LibTorch.
void check_value_fits(const char* name, ScalarType t, const Scalar& value);

}  // namespace hb
