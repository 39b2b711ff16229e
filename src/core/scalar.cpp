#include <halfbridge/scalar.h>

#include <cmath>
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

int64_t Scalar::to_integer() const {
  if (!std::isfinite(d_) || d_ < -0x1p63 || d_ >= 0x1p63) overflow("int64_t", *this);
  return static_cast<int64_t>(d_);
}

double Scalar::to_real() const {
  if (z_.imag() != 0) overflow("double", *this);
  return z_.real();
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
      << flag(o.has_requires_grad()) << ", pinned_memory=" << o.pinned_memory() << flag(o.pinned_memory())
      << ", memory_format=";
  if (o.memory_format_opt()) return out << *o.memory_format_opt() << ")";
  return out << "(nullopt))";
}

}  // namespace hb
