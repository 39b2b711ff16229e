#include "core/value_range.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <halfbridge/half.h>

namespace hb {

const char* cpp_name(ScalarType t) {
  switch (t) {
    case kFloat:
      return "float";
    case kDouble:
      return "double";
    case kHalf:
      return "c10::Half";
    case kBFloat16:
      return "c10::BFloat16";
    case kByte:
      return "uint8_t";
    case kChar:
      return "int8_t";
    case kShort:
      return "int16_t";
    case kInt:
      return "int";
    case kLong:
      return "int64_t";
    case kUInt16:
      return "uint16_t";
    case kUInt32:
      return "uint32_t";
    case kUInt64:
      return "uint64_t";
    case kBool:
      return "bool";
    case kComplexFloat:
      return "c10::complex<float>";
    case kComplexDouble:
      return "c10::complex<double>";
    default:
      return toString(t);
  }
}

double largest_finite(ScalarType t) {
  switch (t) {
    case kHalf:
      return 65504;
    case kBFloat16:
      return std::ldexp(255, 120);
    case kFloat:
    case kComplexFloat:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

namespace {

bool fits_float(ScalarType t, double v) { return !std::isfinite(v) || std::fabs(v) <= largest_finite(t); }

bool fits_integer(ScalarType t, const Scalar& value) {
  if (!value.isFloatingPoint() && element_size(t) == 8) return true;  // no double between that would round
  const double v = value.toDouble();
  const bool is_signed = is_signed_type(t);
  if (!is_signed && value.isFloatingPoint() && v < 0) return false;  // only integers wrap
  const double limit = std::ldexp(1.0, 8 * static_cast<int>(element_size(t)) - (is_signed ? 1 : 0));
  return v < limit && (is_signed ? v >= -limit : v > -limit);
}

bool fits(ScalarType t, const Scalar& value) {
  if (value.isComplex()) {
    const auto z = value.toComplexDouble();
    if (is_complex_type(t)) return fits_float(t, z.real()) && fits_float(t, z.imag());
    return z.imag() == 0 && fits(t, Scalar(z.real()));
  }
  if (t == kBool) return true;
  return is_differentiable_type(t) ? fits_float(t, value.toDouble()) : fits_integer(t, value);
}

}  // namespace

void check_value_fits(const char* name, ScalarType t, const Scalar& value) {
  if (HB_UNLIKELY(!fits(t, value)))  // not an hb::Error: LibTorch's is none of c10's either
    throw std::runtime_error(
        detail::str("[", name, "] value cannot be converted to type ", cpp_name(t), " without overflow: ", value));
}

void check_factor_fits(const char* name, ScalarType t, const Scalar& value) {
  check_value_fits(name, is_half_type(t) ? kFloat : t, value);
}

}  // namespace hb
