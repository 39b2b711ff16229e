#include "script/builtins.h"

#include <algorithm>
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

bool keeps_arguments(const std::string& name) {
  constexpr std::string_view kKeeping[] = {"aten::append", "aten::insert",     "aten::_set_item", "aten::add_",
                                           "aten::extend", "aten::setdefault", "aten::update",    "aten::get",
                                           "aten::pop",    "aten::wait",       "aten::fill_"};
  return name.rfind("aten::", 0) != 0 ||
         std::find(std::begin(kKeeping), std::end(kKeeping), name) != std::end(kKeeping);
}

}  // namespace hb::bridge::script
