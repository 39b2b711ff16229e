#include <halfbridge/ivalue.h>

#include <cmath>
#include <iomanip>
#include <limits>
#include <ostream>

#include <halfbridge/stream.h>

#include "core/stack.h"

namespace hb {
namespace {

// As LibTorch: whole numbers that an int64 holds end in a point (and -0 is 0), others have all their digits.
void print_double(std::ostream& out, double value) {
  if (std::abs(value) < 0x1p63 && std::trunc(value) == value) {
    out << static_cast<int64_t>(value) << ".";
    return;
  }
  const auto precision = out.precision();
  out << std::setprecision(std::numeric_limits<double>::max_digits10) << value << std::setprecision(precision);
}

void print_complex(std::ostream& out, const Complex<double>& value) {
  print_double(out, value.real());
  if (value.imag() >= 0) out << "+";
  print_double(out, value.imag());
  out << "j";
}

void print_items(std::ostream& out, const std::vector<IValue>& items, const char* open, const char* close) {
  out << open;
  for (size_t i = 0; i < items.size(); ++i) out << (i ? ", " : "") << items[i];
  out << close;
}

void print_container(std::ostream& out, const IValue& value) {
  if (value.isList()) return print_items(out, value.toListRef(), "[", "]");
  if (value.isTuple()) {
    const auto& items = value.toTupleRef().items;
    return print_items(out, items, "(", items.size() == 1 ? ",)" : ")");
  }
  out << "{";
  const char* separator = "";
  for (const auto& [key, item] : value.toGenericDict().data()->entries) {
    out << separator << key << ": " << item;
    separator = ", ";
  }
  out << "}";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const IValue& value) {
  if (value.isNone()) return out << "None";
  if (value.isTensor()) return out << value.toTensor();
  if (value.isDouble()) return print_double(out, value.toDouble()), out;
  if (value.isComplexDouble()) return print_complex(out, value.toComplexDouble()), out;
  if (value.isInt()) return out << value.toInt();
  if (value.isBool()) return out << (value.toBool() ? "True" : "False");
  if (value.isDevice()) return out << value.toDevice();
  if (value.isString()) return out << value.toStringRef();
  if (value.isGenerator()) return out << "Generator";
  if (value.isStorage()) return out << value.toStorage().unsafeGetStorageImpl();
  if (value.isStream()) return out << value.toStream();
  if (value.isFuture()) return out << "Future";
  if (value.isObject()) return out << "<" << value.toObject()->class_name << " object>";
  if (!value.isList() && !value.isTuple() && !value.isGenericDict()) return out << "Uninitialized";
  detail::with_stack([&] { print_container(out, value); });
  return out;
}

}  // namespace hb
