// Functions of lists.
#include <algorithm>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

#include "script/builtins.h"

namespace hb::bridge::script {
namespace {

std::vector<IValue>& items(const IValue& list) { return list.toList().data()->items; }

bool length(Values& a, IValue& out) {
  if (a.size() != 1) return false;
  const IValue& v = a[0];
  int64_t count = 0;
  if (v.isList()) {
    count = static_cast<int64_t>(v.toListRef().size());
  } else if (v.isString()) {
    count = static_cast<int64_t>(v.toStringRef().size());
  } else if (v.isGenericDict()) {
    count = static_cast<int64_t>(v.toGenericDict().size());
  } else if (v.isTuple()) {
    count = static_cast<int64_t>(v.toTupleRef().elements().size());
  } else if (v.isTensor()) {
    HB_CHECK(v.toTensor().dim() > 0, "[TorchScript] len() of a 0-d tensor");
    count = v.toTensor().size(0);
  } else {
    return false;
  }
  return out = count, true;
}

bool append(Values& a, IValue& out) {
  if (a.size() != 2 || !a[0].isList()) return false;
  items(a[0]).push_back(a[1]);
  return out = a[0], true;
}
bool extend(Values& a, IValue& out) {
  if (a.size() != 2 || !a[0].isList()) return false;
  std::vector<IValue> more = items_of(a[1]);
  auto& to = items(a[0]);
  to.insert(to.end(), more.begin(), more.end());
  return out = IValue(), true;
}
bool add_(Values& a, IValue& out) {
  if (a.size() != 2 || !a[0].isList() || !a[1].isList()) return false;
  extend(a, out);
  return out = a[0], true;
}
bool mul_(Values& a, IValue& out) {
  if (a.size() != 2 || !a[0].isList() || !is_whole(a[1])) return false;
  Values copy = a;
  IValue made;
  if (!find_builtins("aten::mul")->run(copy, made)) return false;
  items(a[0]) = made.toListRef();
  return out = a[0], true;
}
bool insert(Values& a, IValue& out) {
  if (a.size() != 3 || !a[0].isList()) return false;
  auto& to = items(a[0]);
  const auto n = static_cast<int64_t>(to.size());
  int64_t at = to_int(a[1]);
  at = std::clamp(at < 0 ? at + n : at, int64_t{0}, n);
  to.insert(to.begin() + at, a[2]);
  return out = IValue(), true;
}
bool pop(Values& a, IValue& out) {
  if (a.empty() || a.size() > 2 || !a[0].isList()) return false;
  auto& from = items(a[0]);
  const size_t at = place_of(a.size() == 2 ? to_int(a[1]) : -1, from.size(), "pop");
  out = from[at];
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}
size_t found(const std::vector<IValue>& all, const IValue& wanted) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const IValue& item) { return equal_values(item, wanted); });
  return static_cast<size_t>(at - all.begin());
}
bool remove(Values& a, IValue& out) {
  if (a.size() != 2 || !a[0].isList()) return false;
  auto& from = items(a[0]);
  const size_t at = found(from, a[1]);
  HB_CHECK(at < from.size(), "[TorchScript] ValueError: list.remove(x): x not in list");
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
  return out = IValue(), true;
}
bool delete_item(Values& a, IValue& out) {
  if (a.size() != 2 || !a[0].isList()) return false;
  return pop(a, out) && (out = IValue(), true);
}
bool clear(Values& a, IValue& out) {
  if (a.size() != 1 || !a[0].isList()) return false;
  items(a[0]).clear();
  return out = IValue(), true;
}
bool reverse(Values& a, IValue& out) {
  if (a.size() != 1 || !a[0].isList()) return false;
  std::reverse(items(a[0]).begin(), items(a[0]).end());
  return out = IValue(), true;
}
IValue copy_of(const IValue& list) { return IValue(std::make_shared<ivalue::ListData>(*list.toList().data())); }
bool copy(Values& a, IValue& out) { return a.size() == 1 && a[0].isList() && (out = copy_of(a[0]), true); }
bool list(Values& a, IValue& out) {
  if (a.empty()) return out = list_of_items({}), true;
  if (a.size() != 1) return false;
  return out = a[0].isList() ? copy_of(a[0]) : list_of_items(items_of(a[0])), true;
}
bool tuple(Values& a, IValue& out) {
  return a.size() == 1 && (out = IValue(ivalue::TupleData::create(items_of(a[0]))), true);
}
bool index(Values& a, IValue& out) {
  if (a.size() != 2 || !a[0].isList()) return false;
  const size_t at = found(a[0].toListRef(), a[1]);
  HB_CHECK_VALUE(at < a[0].toListRef().size(), "[TorchScript] ValueError: '", to_text(a[1]), "' is not in list");
  return out = static_cast<int64_t>(at), true;
}
bool count(Values& a, IValue& out) {
  if (a.size() != 2 || !a[0].isList()) return false;
  const auto& all = a[0].toListRef();
  out =
      static_cast<int64_t>(std::count_if(all.begin(), all.end(), [&](auto& item) { return equal_values(item, a[1]); }));
  return true;
}
bool contains(Values& a, IValue& out) {
  if (a.size() != 2) return false;
  if (a[0].isList() || a[0].isTuple()) {
    const std::vector<IValue>& all = a[0].isList() ? a[0].toListRef() : a[0].toTupleRef().elements();
    return out = found(all, a[1]) < all.size(), true;
  }
  if (a[0].isGenericDict()) return out = a[0].toGenericDict().contains(a[1]), true;
  if (!a[0].isString() || !a[1].isString()) return false;
  return out = a[0].toStringRef().find(a[1].toStringRef()) != std::string::npos, true;
}

void sort_items(std::vector<IValue>& all, bool falling) {
  for (const IValue& item : all) less_value(item, item);  // an order that throws would leave the list in pieces
  std::stable_sort(all.begin(), all.end(),
                   [&](const IValue& x, const IValue& y) { return falling ? less_value(y, x) : less_value(x, y); });
}
bool sort(Values& a, IValue& out) {
  if (a.empty() || a.size() > 2 || !a[0].isList()) return false;
  sort_items(items(a[0]), a.size() == 2 && truth(a[1]));
  return out = IValue(), true;
}
bool sorted(Values& a, IValue& out) {
  if (a.size() != 1) return false;
  out = a[0].isList() ? copy_of(a[0]) : list_of_items(items_of(a[0]));
  sort_items(items(out), false);
  return true;
}
bool reversed(Values& a, IValue& out) {
  if (a.size() != 1 || a[0].isTensor()) return false;
  out = a[0].isList() ? copy_of(a[0]) : list_of_items(items_of(a[0]));
  std::reverse(items(out).begin(), items(out).end());
  return true;
}
bool slice(Values& a, IValue& out) {
  if (a.empty() || a.size() > 4 || !(a[0].isList() || a[0].isString() || a[0].isTuple())) return false;
  a.resize(4);
  const bool text = a[0].isString();
  const size_t total = text ? a[0].toStringRef().size() : items_of(a[0]).size();
  const Picked picked = pick(a[1], a[2], a[3], total);
  std::vector<IValue> some;
  std::string letters;
  const std::vector<IValue> all = text ? std::vector<IValue>() : items_of(a[0]);
  for (size_t i = 0; i < picked.count; ++i) {
    const auto at = static_cast<size_t>(picked.start + static_cast<int64_t>(i) * picked.step);
    if (text) {
      letters += a[0].toStringRef()[at];
    } else {
      some.push_back(all[at]);
    }
  }
  if (text) return out = letters, true;
  if (a[0].isTuple()) return out = IValue(ivalue::TupleData::create(std::move(some))), true;
  out = list_of_items(std::move(some));
  out.toList().data()->element_type = a[0].toList().data()->element_type;
  return true;
}

bool get_item(Values& a, IValue& out) {
  if (a.size() != 2 || a[0].isTensor()) return false;
  return out = subscript(a[0], a[1]), true;
}
bool list_item(Values& a, IValue& out) { return !a.empty() && a[0].isList() && get_item(a, out); }
bool set_item(Values& a, IValue& out) {
  if (a.size() != 3 || a[0].isTensor()) return false;
  set_subscript(a[0], a[1], a[2]);
  return out = a[0], true;
}
bool sum(Values& a, IValue& out) {
  if (a.size() != 1 || !a[0].isList()) return false;
  IValue total(int64_t{0});
  for (const IValue& item : a[0].toListRef()) {
    if (is_whole(item) && total.isInt()) {
      total = static_cast<int64_t>(static_cast<uint64_t>(total.toInt()) + static_cast<uint64_t>(whole(item)));
    } else {
      total = to_float(total) + to_float(item);
    }
  }
  return out = total, true;
}
bool any(Values& a, IValue& out) {
  if (a.size() != 1 || !a[0].isList()) return false;
  const auto& all = a[0].toListRef();
  return out = std::any_of(all.begin(), all.end(), truth), true;
}
bool all(Values& a, IValue& out) {
  if (a.size() != 1 || !a[0].isList()) return false;
  const auto& every = a[0].toListRef();
  return out = std::all_of(every.begin(), every.end(), truth), true;
}

constexpr Builtin kRows[] = {
    {"aten::len", length},
    {"prim::len", length},
    {"aten::append", append},
    {"aten::extend", extend},
    {"aten::add_", add_},
    {"aten::mul_", mul_},
    {"aten::Size", list},
    {"aten::insert", insert},
    {"aten::pop", pop},
    {"aten::remove", remove},
    {"aten::Delete", delete_item},
    {"aten::clear", clear},
    {"aten::reverse", reverse},
    {"aten::copy", copy},
    {"aten::list", list},
    {"prim::tuple", tuple},
    {"aten::index", index},
    {"aten::count", count},
    {"aten::__contains__", contains},
    {"aten::sort", sort},
    {"aten::sorted", sorted},
    {"prim::reversed", reversed},
    {"aten::slice", slice},
    {"aten::__getitem__", get_item},
    {"aten::select", list_item},
    {"aten::_set_item", set_item},
    {"aten::sum", sum},
    {"aten::any", any},
    {"aten::all", all},
};

}  // namespace

std::span<const Builtin> list_builtins() { return kRows; }

}  // namespace hb::bridge::script
