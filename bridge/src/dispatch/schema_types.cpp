#include "dispatch/schema_types.h"

#include <cctype>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace hb::bridge {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

std::string replaced(const std::string& type, std::initializer_list<std::string_view> words, std::string_view by) {
  std::string out;
  for (size_t at = 0; at < type.size();) {
    size_t end = at;
    while (end < type.size() && is_word(type[end])) ++end;
    const std::string_view word = std::string_view(type).substr(at, end - at);
    bool found = false;
    for (std::string_view candidate : words) found = found || word == candidate;
    out += found ? by : word;
    if (end < type.size()) out += type[end++];
    at = end;
  }
  return out;
}

bool ends_with(const std::string& text, std::string_view ending) {
  return text.size() > ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

// The parts of "A, B(C, D)" between the commas that stand outside of brackets.
std::vector<std::string> parts(std::string_view list) {
  std::vector<std::string> found;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && (list[i] == '(' || list[i] == '[')) ++depth;
    if (i < list.size() && (list[i] == ')' || list[i] == ']')) --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    while (start < i && list[start] == ' ') ++start;
    if (start < i) found.emplace_back(list.substr(start, i - start));
    start = i + 1;
  }
  return found;
}

bool list_fits(const IValue& value, const std::string& element) {
  if (!value.isList()) return false;
  for (const IValue& item : value.toListRef()) {
    if (!value_fits(item, element)) return false;
  }
  return true;
}

bool tuple_fits(const IValue& value, std::string_view inside) {
  if (!value.isTuple()) return false;
  const auto types = parts(inside);
  const auto& items = value.toTupleRef().elements();
  if (items.size() != types.size()) return false;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!value_fits(items[i], types[i])) return false;
  }
  return true;
}

bool dict_fits(const IValue& value, std::string_view inside) {
  if (!value.isGenericDict()) return false;
  const auto types = parts(inside);
  if (types.size() != 2) return false;
  for (const auto& [key, item] : value.toGenericDict().data()->entries) {
    if (!value_fits(key, types[0]) || !value_fits(item, types[1])) return false;
  }
  return true;
}

}  // namespace

std::string held_type(const std::string& type) {
  return replaced(type, {"ScalarType", "Layout", "MemoryFormat", "SymInt", "QScheme"}, "int");
}
std::string comparable_type(const std::string& type) { return replaced(type, {"SymInt"}, "int"); }

std::optional<bool> is_of_type(const IValue& value, std::string_view type) {
  if (type == "Tensor") return value.isTensor();
  if (type == "int") return value.isInt();
  if (type == "float") return value.isDouble();
  if (type == "bool") return value.isBool();
  if (type == "str") return value.isString();
  if (type == "Scalar") return value.isScalar();
  if (type == "complex") return value.isComplexDouble();
  if (type == "Device") return value.isDevice();
  if (type == "Generator") return value.isGenerator();
  if (type.starts_with("__torch__.")) return value.isObject() && value.toObject()->class_name == type;
  return std::nullopt;
}

bool value_fits(const IValue& value, const std::string& type) {
  if (ends_with(type, "?")) return value.isNone() || value_fits(value, type.substr(0, type.size() - 1));
  if (ends_with(type, "[]")) return list_fits(value, type.substr(0, type.size() - 2));
  if (type.rfind("Dict(", 0) == 0) return dict_fits(value, std::string_view(type).substr(5, type.size() - 6));
  if (type.front() == '(') return tuple_fits(value, std::string_view(type).substr(1, type.size() - 2));
  return is_of_type(value, type).value_or(true);  // Any, and variables
}

std::string schema_type_of(const IValue& value) { return value.type()->annotation_str(); }

}  // namespace hb::bridge
