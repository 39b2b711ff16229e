#include <halfbridge/ivalue_type.h>

namespace hb {
namespace {

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

/// The first type of "int, Dict[str, int]": what stands before a comma outside of brackets.
size_t end_of_type(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '(') ++depth;
    if (text[i] == ']' || text[i] == ')') --depth;
    if (text[i] == ',' && depth == 0) return i;
  }
  return text.size();
}

std::string schema_text(std::string_view type, int depth = 0);

std::string schema_texts(std::string_view types, int depth) {
  if (types == "()") return "";
  std::string all;
  while (!types.empty()) {
    const size_t end = end_of_type(types);
    all += (all.empty() ? "" : ", ") + schema_text(types.substr(0, end), depth);
    types.remove_prefix(end == types.size() ? end : end + 1);
    while (starts_with(types, " ")) types.remove_prefix(1);
  }
  return all;
}

std::string schema_text(std::string_view type, int depth) {
  // Files say types too: deeper than any program nests, the text stays as it is.
  constexpr int kDeepest = 100;
  if (depth > kDeepest || type.empty() || type.back() != ']') return std::string(type);
  const auto inside = [&](std::string_view start) {
    return schema_texts(type.substr(start.size(), type.size() - start.size() - 1), depth + 1);
  };
  if (starts_with(type, "List[")) return inside("List[") + "[]";
  if (starts_with(type, "Optional[")) return inside("Optional[") + "?";
  if (starts_with(type, "Dict[")) return "Dict(" + inside("Dict[") + ")";
  if (starts_with(type, "Tuple[")) return "(" + inside("Tuple[") + ")";
  return std::string(type);
}

}  // namespace

Type::Type(std::string text) : text_(std::move(text)), schema_text_(schema_text(text_)) {}

}  // namespace hb
