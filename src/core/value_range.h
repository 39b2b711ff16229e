#pragma once

#include <halfbridge/scalar.h>

namespace hb {

/// For a value to be written into a tensor of dtype t: a fraction is cut off in integer dtypes, what lies outside the
/// dtype's range is an error (infinities fit floating dtypes), and so is an imaginary part that a real dtype would
/// lose. Negative numbers wrap in unsigned dtypes, as in LibTorch.
/// Throws std::runtime_error, as LibTorch does.
void check_value_fits(const char* name, ScalarType t, const Scalar& value);

/// The same for a number that elements of dtype t are multiplied by or compared with: halves are computed in float.
void check_factor_fits(const char* name, ScalarType t, const Scalar& value);

/// The largest finite number of a floating or complex dtype.
double largest_finite(ScalarType t);

/// The type as a C++ program writes it.
const char* cpp_name(ScalarType t);

}  // namespace hb
