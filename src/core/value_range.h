#pragma once

#include <halfbridge/scalar.h>

namespace hb {

/// For a value to be written into a tensor of dtype t: a fraction is cut off in integer dtypes, what lies outside the
/// dtype's range is an error (infinities fit floating dtypes), and so is an imaginary part that a real dtype would
/// lose. Negative numbers wrap in unsigned dtypes, as in LibTorch.
/// Throws std::runtime_error, as LibTorch does.
void check_value_fits(const char* name, ScalarType t, const Scalar& value);

/// The same for a tensor of so many elements: a single half becomes infinite instead, as in LibTorch.
inline void check_filling_fits(const char* name, ScalarType t, int64_t numel, const Scalar& value) {
  if (numel != 1 || !is_half_type(t) || value.isComplex()) check_value_fits(name, t, value);
}

/// The bits that an integer keeps in an integer dtype, in which what does not fit wraps around.
inline int64_t wrapped(ScalarType t, const Scalar& value) {
  const int unused = 64 - 8 * static_cast<int>(element_size(t));
  const uint64_t bits = value.toUInt64() << unused;
  return is_signed_type(t) ? static_cast<int64_t>(bits) >> unused : static_cast<int64_t>(bits >> unused);
}

/// As check_value_fits() for a number that elements of dtype t are multiplied by or compared with: halves are computed
/// in float.
void check_factor_fits(const char* name, ScalarType t, const Scalar& value);

/// The largest finite number of a floating or complex dtype.
double largest_finite(ScalarType t);

/// The type as a C++ program writes it.
const char* cpp_name(ScalarType t);

}  // namespace hb
