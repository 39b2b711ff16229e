// Functions of dicts.
#include <halfbridge/error.h>

#include "script/builtins.h"

namespace hb::bridge::script {
namespace {

ivalue::DictData& data(const IValue& dict) { return *dict.toGenericDict().data(); }
bool takes(const Values& a, size_t least, size_t most) {
  return a.size() >= least && a.size() <= most && a[0].isGenericDict();
}

IValue list_of_parts(const IValue& dict, IValue (*part)(const std::pair<IValue, IValue>&)) {
  std::vector<IValue> items;
  for (const auto& entry : data(dict).entries) items.push_back(part(entry));
  return list_of_items(std::move(items));
}
bool keys(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  return out = list_of_parts(a[0], [](const auto& entry) { return entry.first; }), true;
}
bool values(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  return out = list_of_parts(a[0], [](const auto& entry) { return entry.second; }), true;
}
IValue pair_of(const std::pair<IValue, IValue>& entry) {
  return IValue(ivalue::TupleData::create(std::vector<IValue>{entry.first, entry.second}));
}
bool items(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  return out = list_of_parts(a[0], pair_of), true;
}
bool get(Values& a, IValue& out) {
  if (!takes(a, 2, 3)) return false;
  const size_t at = data(a[0]).find(a[1]);
  if (at < data(a[0]).entries.size()) return out = data(a[0]).entries[at].second, true;
  return out = a.size() == 3 ? a[2] : IValue(), true;
}
bool pop(Values& a, IValue& out) {
  if (!takes(a, 2, 3)) return false;
  const size_t at = data(a[0]).find(a[1]);
  const bool there = at < data(a[0]).entries.size();
  HB_CHECK_INDEX(there || a.size() == 3, "[TorchScript] KeyError: ", to_text(a[1]));
  out = there ? data(a[0]).entries[at].second : a[2];
  if (there) data(a[0]).erase(a[1]);
  return true;
}
bool delete_key(Values& a, IValue& out) { return takes(a, 2, 2) && pop(a, out) && (out = IValue(), true); }
bool pop_item(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  HB_CHECK_INDEX(!data(a[0]).entries.empty(), "[TorchScript] KeyError: popitem(): dictionary is empty");
  const auto last = data(a[0]).entries.back();
  data(a[0]).erase(last.first);
  return out = pair_of(last), true;
}
bool set_default(Values& a, IValue& out) {
  if (!takes(a, 3, 3)) return false;
  const size_t at = data(a[0]).find(a[1]);
  if (at == data(a[0]).entries.size()) data(a[0]).set(a[1], a[2]);
  out = at < data(a[0]).entries.size() ? data(a[0]).entries[data(a[0]).find(a[1])].second : a[2];
  return true;
}
bool update(Values& a, IValue& out) {
  if (!takes(a, 2, 2)) return false;
  if (a[1].isGenericDict()) {
    const auto more = data(a[1]).entries;
    for (const auto& [key, value] : more) data(a[0]).set(key, value);
  } else {
    for (const IValue& pair : items_of(a[1]))
      data(a[0]).set(pair.toTupleRef().elements().at(0), pair.toTupleRef().elements().at(1));
  }
  return out = IValue(), true;
}
bool clear(Values& a, IValue& out) { return takes(a, 1, 1) && (data(a[0]).clear(), out = IValue(), true); }
bool copy(Values& a, IValue& out) {
  return takes(a, 1, 1) && (out = IValue(std::make_shared<ivalue::DictData>(data(a[0]))), true);
}

// dict(), dict(other), dict([("a", 1)])
bool dict(Values& a, IValue& out) {
  if (a.size() > 1) return false;
  if (a.size() == 1 && a[0].isGenericDict()) return copy(a, out);
  Dict<IValue, IValue> made;
  out = IValue(made.data());
  if (a.empty()) return true;
  Values both{out, a[0]};
  IValue none;
  return update(both, none);
}

constexpr Builtin kRows[] = {
    {"aten::keys", keys},        {"aten::values", values},
    {"aten::items", items},      {"aten::get", get},
    {"aten::pop", pop},          {"aten::Delete", delete_key},
    {"aten::popitem", pop_item}, {"aten::setdefault", set_default},
    {"aten::update", update},    {"aten::clear", clear},
    {"aten::copy", copy},        {"aten::dict", dict},
};

}  // namespace

std::span<const Builtin> dict_builtins() { return kRows; }

}  // namespace hb::bridge::script
