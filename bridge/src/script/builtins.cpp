#include "script/builtins.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include <halfbridge/error.h>

namespace hb::bridge::script {
namespace {

// Several rows may have one name: the first that takes the arguments answers.
struct Group {
  std::vector<const Builtin*> rows;
};
constexpr size_t kMostGroups = 16;
Group groups[kMostGroups];
size_t group_count = 0;

template <size_t at>
bool run_group(Values& arguments, IValue& result) {
  for (const Builtin* row : groups[at].rows) {
    if (row->run(arguments, result)) return true;
  }
  return false;
}
template <size_t... at>
constexpr auto runners(std::index_sequence<at...>) {
  return std::array<bool (*)(Values&, IValue&), sizeof...(at)>{run_group<at>...};
}
constexpr auto kRunners = runners(std::make_index_sequence<kMostGroups>());

using Table = std::unordered_map<std::string, Builtin>;

Table make_table() {
  std::unordered_map<std::string, Group> all;
  const auto add = [&](std::span<const Builtin> rows, const char* prefix) {
    for (const Builtin& row : rows) all[std::string(prefix) + row.name].rows.push_back(&row);
  };
  add(number_builtins(), "");
  add(math_builtins(), "");
  add(list_builtins(), "");
  add(dict_builtins(), "");
  add(text_builtins(), "");
  add(other_builtins(), "");
  add(property_builtins(), "prim::");
  Table table;
  for (auto& [name, group] : all) {
    if (group.rows.size() == 1) {
      table.emplace(name, *group.rows[0]);
      continue;
    }
    HB_CHECK(group_count < kMostGroups, "expected fewer names with several functions");
    table.emplace(name, Builtin{group.rows[0]->name, kRunners[group_count]});
    groups[group_count++] = std::move(group);
  }
  return table;
}

}  // namespace

const Builtin* find_builtin(const std::string& name) {
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
