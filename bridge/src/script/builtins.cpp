#include "script/builtins.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

namespace hb::bridge::script {
namespace {

using Table = std::unordered_map<std::string, Builtins>;

Table make_table() {
  Table table;
  const auto add = [&](std::span<const Builtin> rows, const char* prefix) {
    for (const Builtin& row : rows) table[std::string(prefix) + row.name].rows.push_back(row);
  };
  add(number_builtins(), "");
  add(mixed_builtins(), "");
  add(math_builtins(), "");
  add(list_builtins(), "");
  add(dict_builtins(), "");
  add(text_builtins(), "");
  add(text_part_builtins(), "");
  add(other_builtins(), "");
  add(property_builtins(), "prim::");
  return table;
}

}  // namespace

bool Builtins::run(Values& arguments, IValue& result) const {
  const bool tensor_first = !arguments.empty() && arguments[0].isTensor();
  for (const Builtin& row : rows) {
    if ((row.tensors || !tensor_first) && row.run(arguments, result)) return true;
  }
  return false;
}

const Builtins* find_builtins(const std::string& name) {
  static const auto* const table = new Table(make_table());
  const auto found = table->find(name);
  return found == table->end() ? nullptr : &found->second;
}

std::optional<std::vector<size_t>> places_of_names(const std::string& function, const std::vector<std::string>& names) {
  constexpr std::pair<std::string_view, std::array<std::string_view, 4>> kParameters[] = {
      {"aten::sort", {"self", "reverse"}},
      {"aten::get", {"self", "key", "default_value"}},
      {"aten::split", {"self", "separator", "max"}},
      {"aten::rsplit", {"self", "separator", "max"}},
      {"aten::splitlines", {"self", "keepends"}},
      {"aten::replace", {"self", "old", "new", "max"}},
      {"aten::find", {"self", "substr", "start", "end"}},
      {"aten::rfind", {"self", "substr", "start", "end"}},
      {"aten::index", {"self", "substr", "start", "end"}},
      {"aten::rindex", {"self", "substr", "start", "end"}},
      {"aten::count", {"self", "substr", "start", "end"}},
      {"aten::startswith", {"self", "substr", "start", "end"}},
      {"aten::endswith", {"self", "substr", "start", "end"}},
      {"aten::center", {"self", "width", "fillchar"}},
      {"aten::ljust", {"self", "width", "fillchar"}},
      {"aten::rjust", {"self", "width", "fillchar"}},
      {"aten::expandtabs", {"self", "tabsize"}}};
  const auto row =
      std::find_if(std::begin(kParameters), std::end(kParameters), [&](auto& one) { return one.first == function; });
  if (row == std::end(kParameters)) return std::nullopt;
  std::vector<size_t> places;
  for (const std::string& name : names) {
    const auto at = std::find(row->second.begin(), row->second.end(), name);
    if (at == row->second.end()) return std::nullopt;
    places.push_back(static_cast<size_t>(at - row->second.begin()));
  }
  return places;
}

bool keeps_arguments(const std::string& name) {
  constexpr std::string_view kKeeping[] = {"aten::append", "aten::insert",     "aten::_set_item", "aten::add_",
                                           "aten::extend", "aten::setdefault", "aten::update",    "aten::get",
                                           "aten::pop",    "aten::wait",       "aten::fill_"};
  return name.rfind("aten::", 0) != 0 ||
         std::find(std::begin(kKeeping), std::end(kKeeping), name) != std::end(kKeeping);
}

}  // namespace hb::bridge::script
