#include <halfbridge/scalar.h>

#include <cmath>
#include <complex>
#include <limits>
#include <ostream>
#include <stdexcept>

#include <halfbridge/options.h>

#include "core/value_range.h"

namespace hb {

namespace {
// As in LibTorch these are no c10::Error.
[[noreturn]] void overflow(const char* type, const Scalar& value) {
  throw std::runtime_error(detail::str("value cannot be converted to type ", type, " without overflow: ", value));
}
}  // namespace

int64_t Scalar::to_integer(ScalarType type) const {
  if (!std::isfinite(d_) || d_ < -0x1p63 || d_ >= 0x1p63) refuse(type);
  return static_cast<int64_t>(d_);
}

double Scalar::to_real(ScalarType type) const {
  if (z_.imag() != 0) refuse(type);
  return z_.real();
}

void Scalar::check_narrow_complex() const {
  const auto too_large = [](double v) { return std::isfinite(v) && std::abs(v) > std::numeric_limits<float>::max(); };
  const Complex<double> z = to_complex();
  if (too_large(z.real()) || too_large(z.imag())) overflow("c10::complex<float>", *this);
}

Scalar Scalar::conj() const { return isComplex() ? Scalar(Complex<double>(z_.real(), -z_.imag())) : *this; }
Scalar Scalar::log() const {
  if (isComplex()) return Scalar(std::log(std::complex<double>(z_.real(), z_.imag())));
  return Scalar(std::log(real()));
}

void Scalar::refuse(ScalarType type) const { overflow(cpp_name(type), *this); }

std::ostream& operator<<(std::ostream& out, const Scalar& s) {
  if (s.isComplex()) return out << s.toComplexDouble();
  if (s.isFloatingPoint()) return out << s.toDouble();
  if (s.isBoolean()) return out << (s.toBool() ? "true" : "false");
  if (s.type() == kUInt64) return out << s.toUInt64();
  return out << s.toLong();
}

std::ostream& operator<<(std::ostream& out, const TensorOptions& o) {
  const auto flag = [&](bool set) { return set ? "" : " (default)"; };
  // As in LibTorch the stream prints words for bools from here on.
  out << "TensorOptions(dtype=" << o.dtype() << flag(o.has_dtype()) << ", device=" << o.device() << flag(o.has_device())
      << ", layout=" << o.layout() << flag(o.has_layout()) << ", requires_grad=" << std::boolalpha << o.requires_grad()
      << flag(o.has_requires_grad()) << ", pinned_memory=" << o.pinned_memory() << flag(o.has_pinned_memory())
      << ", memory_format=";
  if (o.memory_format_opt()) return out << *o.memory_format_opt() << ")";
  return out << "(nullopt))";
}
std::string toString(const TensorOptions& o) { return detail::str(o); }

}  // namespace hb
