#include <halfbridge/scalar.h>

#include <cmath>
#include <map>
#include <ostream>

#include <halfbridge/options.h>

namespace hb {

int64_t Scalar::to_integer() const {
  HB_CHECK(std::isfinite(d_) && d_ >= -0x1p63 && d_ < 0x1p63,
           "value cannot be converted to type int64_t without overflow");
  return static_cast<int64_t>(d_);
}

double Scalar::to_real() const {
  HB_CHECK(z_.imag() == 0, "value cannot be converted to a real type without losing its imaginary part");
  return z_.real();
}

void Scalar::refuse(ScalarType type) const {
  static const std::map<ScalarType, const char*> cpp_names{
      {kByte, "uint8_t"},    {kChar, "int8_t"},    {kShort, "int16_t"}, {kInt, "int"},
      {kLong, "int64_t"},    {kFloat, "float"},    {kHalf, "at::Half"}, {kBFloat16, "at::BFloat16"},
      {kUInt16, "uint16_t"}, {kUInt32, "uint32_t"}};
  const auto found = cpp_names.find(type);
  HB_CHECK(false, "value cannot be converted to type ", found == cpp_names.end() ? toString(type) : found->second,
           " without overflow: ", *this);
  __builtin_unreachable();
}

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
