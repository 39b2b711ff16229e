// What values mean to code: truth, conversions, order, items.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>
#include <halfbridge/tensor_type.h>
#include <halfbridge/type_tree.h>

#include "script/builtins.h"

namespace hb::bridge::script {
namespace {

[[noreturn]] void fail_kind(const char* what, const IValue& value) {
  throw Error(
      hb::detail::str("[TorchScript] expected ", what, ", got a value of type '", value.type()->annotation_str(), "'"));
}

}  // namespace

std::optional<IValue> number_of(const std::string& text) {
  if (text.back() == 'j') return IValue(Complex<double>(0, std::strtod(text.c_str(), nullptr)));
  const bool hex = text.size() > 1 && (text[1] == 'x' || text[1] == 'X');
  if (!hex && text.find_first_of(".eE") != std::string::npos) return IValue(std::strtod(text.c_str(), nullptr));
  errno = 0;
  const unsigned long long value = std::strtoull(text.c_str(), nullptr, hex ? 16 : 10);
  // The least int64 is written as a minus and 2^63.
  if (errno != 0 || value > (uint64_t{1} << 63)) return std::nullopt;
  return IValue(static_cast<int64_t>(value));
}

bool truth(const IValue& value) {
  if (value.isBool()) return value.toBool();
  if (value.isTensor()) return value.toTensor().item().to<bool>();
  if (value.isInt()) return value.toInt() != 0;
  if (value.isDouble()) return value.toDouble() != 0;
  if (value.isNone()) return false;
  if (value.isList()) return !value.toListRef().empty();
  if (value.isGenericDict()) return value.toGenericDict().size() > 0;
  if (value.isString()) return !value.toStringRef().empty();
  if (value.isTuple()) return !value.toTupleRef().elements().empty();
  fail_kind("a value that is true or false", value);
}

int64_t to_int(const IValue& value) {
  if (is_whole(value)) return whole(value);
  if (value.isTensor()) return value.toTensor().item().to<int64_t>();
  if (value.isDouble()) {
    const double number = value.toDouble();
    HB_CHECK(std::fabs(number) < 9.2e18, "[TorchScript] cannot convert ", number, " to int");
    return static_cast<int64_t>(number);
  }
  if (!value.isString()) fail_kind("a number", value);
  const std::string& text = value.toStringRef();
  char* end = nullptr;
  errno = 0;
  const long long parsed = std::strtoll(text.c_str(), &end, 10);
  HB_CHECK(end != text.c_str() && *end == '\0' && errno == 0, "[TorchScript] ValueError: invalid literal for int(): '",
           text, "'");
  return parsed;
}

double to_float(const IValue& value) {
  if (is_real(value)) return real(value);
  if (value.isTensor()) return value.toTensor().item().to<double>();
  if (!value.isString()) fail_kind("a number", value);
  const std::string& text = value.toStringRef();
  char* end = nullptr;
  const double parsed = std::strtod(text.c_str(), &end);
  HB_CHECK(end != text.c_str() && *end == '\0', "[TorchScript] ValueError: could not convert string to float: '", text,
           "'");
  return parsed;
}

std::string to_text(const IValue& value) {
  if (value.isString()) return value.toStringRef();
  std::ostringstream out;
  out << value;
  return out.str();
}

void check_length(size_t characters) {
  HB_CHECK(characters <= kMostItems, "[TorchScript] expected a text of at most ", kMostItems, " characters, got ",
           characters);
}

bool equal_values(const IValue& a, const IValue& b) {
  if (is_real(a) && is_real(b)) return is_whole(a) && is_whole(b) ? whole(a) == whole(b) : real(a) == real(b);
  if (a.isString() && b.isString()) return a.toStringRef() == b.toStringRef();
  if (a.isTensor() && b.isTensor()) return truth(IValue(hb::eq(a.toTensor(), b.toTensor())));
  const bool lists = a.isList() && b.isList();
  if (lists || (a.isTuple() && b.isTuple())) {
    const std::vector<IValue>& x = lists ? a.toListRef() : a.toTupleRef().elements();
    const std::vector<IValue>& y = lists ? b.toListRef() : b.toTupleRef().elements();
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!equal_values(x[i], y[i])) return false;
    }
    return true;
  }
  return a == b;
}

bool less_value(const IValue& a, const IValue& b) {
  if (is_real(a) && is_real(b)) return is_whole(a) && is_whole(b) ? whole(a) < whole(b) : real(a) < real(b);
  if (a.isString() && b.isString()) return a.toStringRef() < b.toStringRef();
  if (a.isTensor() && b.isTensor()) return truth(IValue(hb::lt(a.toTensor(), b.toTensor())));
  if (a.isTensor() || b.isTensor()) return to_float(a) < to_float(b);
  const bool lists = a.isList() && b.isList();
  if (!lists && !(a.isTuple() && b.isTuple())) fail_kind("values that have an order", a);
  const std::vector<IValue>& x = lists ? a.toListRef() : a.toTupleRef().elements();
  const std::vector<IValue>& y = lists ? b.toListRef() : b.toTupleRef().elements();
  for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
    if (!equal_values(x[i], y[i])) return less_value(x[i], y[i]);
  }
  return x.size() < y.size();
}

size_t place_of(int64_t index, size_t count, const char* what) {
  const auto n = static_cast<int64_t>(count);
  HB_CHECK_INDEX(index < n && index >= -n, "[TorchScript] ", what, " index out of range: ", index, " of ", n);
  return static_cast<size_t>(index < 0 ? index + n : index);
}

IValue list_of_items(std::vector<IValue> items) {
  List<IValue> list(AnyType::get());
  if (items.empty()) {
    list.data()->element_type = TensorType::get();
  } else {
    TypePtr type;
    bool mixed = false, none = false;
    for (const IValue& item : items) {
      if (item.isNone()) {
        none = true;
        continue;
      }
      const TypePtr own = item.isTensor() ? TensorType::get() : item.isInt() ? IntType::get() : item.type();
      mixed = mixed || (type && *type != *own);
      type = own;
    }
    if (mixed || !type) type = AnyType::get();
    if (none && !mixed) type = OptionalType::create(type);
    list.data()->element_type = type;
  }
  list.data()->items = std::move(items);
  return IValue(list.data());
}

std::vector<IValue> items_of(const IValue& value) {
  if (value.isList()) return value.toListRef();
  if (value.isTuple()) return value.toTupleRef().elements();
  std::vector<IValue> items;
  if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict().data()->entries) items.push_back(entry.first);
  } else if (value.isString()) {
    for (char c : value.toStringRef()) items.emplace_back(std::string(1, c));
  } else if (value.isTensor()) {
    for (const Tensor& part : hb::unbind(value.toTensor(), 0)) items.emplace_back(part);
  } else {
    fail_kind("something to go through", value);
  }
  return items;
}

Picked pick(const IValue& start, const IValue& stop, const IValue& step, size_t count) {
  const auto n = static_cast<int64_t>(count);
  const int64_t by = step.isNone() ? 1 : to_int(step);
  HB_CHECK_VALUE(by != 0, "[TorchScript] ValueError: slice step cannot be zero");
  const auto place = [&](const IValue& bound, int64_t missing) {
    if (bound.isNone()) return missing;
    int64_t at = to_int(bound);
    if (at < 0) at += n;
    return std::min(std::max(at, by > 0 ? int64_t{0} : int64_t{-1}), by > 0 ? n : n - 1);
  };
  const int64_t from = place(start, by > 0 ? 0 : n - 1), to = place(stop, by > 0 ? n : -1);
  Picked picked{from, by, 0};
  if (by > 0 && from < to) picked.count = static_cast<size_t>((to - from - 1) / by + 1);
  if (by < 0 && from > to) picked.count = 1 + static_cast<size_t>(from - to - 1) / (~static_cast<size_t>(by) + 1);
  return picked;
}

}  // namespace hb::bridge::script
