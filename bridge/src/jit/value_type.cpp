#include "jit/value_type.h"

#include <algorithm>
#include <vector>

namespace hb::bridge::jit {
namespace {

struct Kind {
  std::string_view type;
  bool (IValue::*is)() const;
};
constexpr Kind kKinds[] = {{"Tensor", &IValue::isTensor},         {"int", &IValue::isInt},
                           {"float", &IValue::isDouble},          {"bool", &IValue::isBool},
                           {"complex", &IValue::isComplexDouble}, {"str", &IValue::isString},
                           {"Device", &IValue::isDevice},         {"NoneType", &IValue::isNone},
                           {"number", &IValue::isScalar},         {"Scalar", &IValue::isScalar}};

bool all_fit(const std::vector<IValue>& items, std::string_view type) {
  return std::all_of(items.begin(), items.end(), [&](const IValue& item) { return fits_type(item, type); });
}

bool fits_dict(const IValue& value, std::string_view types) {
  const auto parts = type_arguments(types);
  if (!value.isGenericDict() || parts.size() != 2) return false;
  for (const auto& [key, item] : value.toGenericDict().data()->entries) {
    if (!fits_type(key, parts[0]) || !fits_type(item, parts[1])) return false;
  }
  return true;
}

bool fits_tuple(const IValue& value, std::string_view types) {
  if (!value.isTuple()) return false;
  const auto& items = value.toTupleRef().elements();
  const auto parts = items.empty() ? std::vector<std::string_view>() : type_arguments(types);
  if (parts.size() != items.size()) return false;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!fits_type(items[i], parts[i])) return false;
  }
  return true;
}

}  // namespace

bool take_wrapper(std::string_view& type, std::string_view name) {
  if (type.size() < name.size() + 2 || type.substr(0, name.size()) != name) return false;
  if (type[name.size()] != '[' || type.back() != ']') return false;
  type = type.substr(name.size() + 1, type.size() - name.size() - 2);
  return true;
}

std::vector<std::string_view> type_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (i < text.size() && (text[i] != ',' || depth != 0)) continue;
    std::string_view part = text.substr(start, i - start);
    part.remove_prefix(std::min(part.size(), part.find_first_not_of(' ')));
    parts.push_back(part);
    start = i + 1;
  }
  return parts;
}

bool fits_type(const IValue& value, std::string_view type) {
  for (const Kind& kind : kKinds) {
    if (type == kind.type) return (value.*kind.is)();
  }
  if (take_wrapper(type, "Optional")) return value.isNone() || fits_type(value, type);
  if (take_wrapper(type, "List")) return value.isList() && all_fit(value.toListRef(), type);
  if (take_wrapper(type, "Dict")) return fits_dict(value, type);
  if (take_wrapper(type, "Tuple")) return fits_tuple(value, type);
  return true;
}

}  // namespace hb::bridge::jit
