// Functions that look for a text in another, take one apart or put it together. What start and end mean is LibTorch's:
// a negative number counts from behind the last character.
#include <algorithm>

#include <halfbridge/error.h>

#include "script/texts.h"

namespace hb::bridge::script {
namespace {

constexpr size_t kNowhere = std::string::npos;

int64_t number_or(const Values& a, size_t at, int64_t otherwise) {
  return at < a.size() && !a[at].isNone() ? to_int(a[at]) : otherwise;
}
IValue list_of(const std::vector<std::string>& texts) {
  IValue list = list_of_items({texts.begin(), texts.end()});
  list.toList().data()->element_type = StringType::get();
  return list;
}
IValue three(const std::string& a, const std::string& b, const std::string& c) {
  return IValue(ivalue::TupleData::create(std::vector<IValue>{a, b, c}));
}

/// (text, other, start = 0, end = -1)
struct Search {
  const std::string &all, &other;
  size_t start, end;
  explicit Search(const Values& a) : all(text(a[0])), other(text(a[1])) {
    const auto size = static_cast<int64_t>(all.size());
    const auto counted = [&](int64_t at, int64_t behind) {
      return at < 0 ? std::max<int64_t>(0, at + size + behind) : at;
    };
    end = static_cast<size_t>(std::min(counted(number_or(a, 3, -1), 1), size));
    start = static_cast<size_t>(counted(number_or(a, 2, 0), 0));
  }
  static bool fits(const Values& a) { return takes(a, 2, 4) && a[1].isString(); }
  std::string part() const { return start < end ? all.substr(start, end - start) : std::string(); }
  IValue place(size_t in_part) const {
    return in_part == kNowhere || start > all.size() ? int64_t{-1} : static_cast<int64_t>(in_part + start);
  }
};

bool starts_with(Values& a, IValue& out) {
  if (!Search::fits(a)) return false;
  const Search s(a);
  return out = s.part().rfind(s.other, 0) == 0, true;
}
bool ends_with(Values& a, IValue& out) {
  if (!Search::fits(a)) return false;
  const Search s(a);
  const std::string part = s.part();
  const size_t n = s.other.size();
  return out = part.size() >= n && part.compare(part.size() - n, n, s.other) == 0, true;
}
bool find(Values& a, IValue& out) {
  if (!Search::fits(a)) return false;
  const Search s(a);
  return out = s.place(s.part().find(s.other)), true;
}
bool rfind(Values& a, IValue& out) {
  if (!Search::fits(a)) return false;
  const Search s(a);
  return out = s.place(s.part().rfind(s.other)), true;
}
template <bool (*look)(Values&, IValue&)>
bool index_of(Values& a, IValue& out) {
  if (!look(a, out)) return false;
  HB_CHECK_VALUE(out.toInt() >= 0, "[TorchScript] ValueError: substring not found");
  return true;
}
bool count(Values& a, IValue& out) {
  if (!Search::fits(a)) return false;
  const Search s(a);
  HB_CHECK(!s.other.empty(), "[TorchScript] ValueError: count() expected a text to look for");
  int64_t n = 0;
  for (size_t at = s.all.find(s.other, s.start); at < s.end; at = s.all.find(s.other, at + s.other.size())) ++n;
  return out = n, true;
}

bool replace(Values& a, IValue& out) {
  if (!takes(a, 3, 4) || !a[1].isString() || !a[2].isString()) return false;
  const std::string &all = text(a[0]), &old = text(a[1]), &by = text(a[2]);
  HB_CHECK(!old.empty(), "[TorchScript] ValueError: replace() expected a text to look for");
  int64_t most = number_or(a, 3, -1);
  std::string made;
  size_t at = 0;
  for (size_t end; most-- != 0 && (end = all.find(old, at)) != kNowhere; at = end + old.size()) {
    made += all.substr(at, end - at) + by;
    check_length(made.size());
  }
  return out = made + all.substr(at), true;
}

bool join(Values& a, IValue& out) {
  if (!takes(a, 2, 2)) return false;
  std::string made;
  bool first = true;
  for (const IValue& item : items_of(a[1])) {
    if (!first) made += text(a[0]);
    made += text(item);
    check_length(made.size());
    first = false;
  }
  return out = made, true;
}

std::vector<std::string> words(const std::string& all, int64_t most) {
  const std::string blank = " \t\n\r\f\v";
  std::vector<std::string> parts;
  for (size_t at = all.find_first_not_of(blank); at != kNowhere;) {
    const size_t end = std::min(all.find_first_of(blank, at), all.size());
    if (most-- == 0) {
      parts.push_back(all.substr(at));
      break;
    }
    parts.push_back(all.substr(at, end - at));
    at = all.find_first_not_of(blank, end);
  }
  return parts;
}
bool split(Values& a, IValue& out) {
  if (!takes(a, 1, 3)) return false;
  int64_t most = number_or(a, 2, -1);
  const std::string& all = text(a[0]);
  if (a.size() == 1 || a[1].isNone()) return out = list_of(words(all, most)), true;
  const std::string& by = text(a[1]);
  HB_CHECK(!by.empty(), "[TorchScript] ValueError: empty separator");
  std::vector<std::string> parts;
  size_t at = 0;
  for (size_t end; most-- != 0 && (end = all.find(by, at)) != kNowhere; at = end + by.size())
    parts.push_back(all.substr(at, end - at));
  parts.push_back(all.substr(at));
  return out = list_of(parts), true;
}
bool rsplit(Values& a, IValue& out) {
  if (!takes(a, 1, 3)) return false;
  int64_t most = number_or(a, 2, -1);
  const std::string &all = text(a[0]), by = a.size() > 1 && !a[1].isNone() ? text(a[1]) : " ";
  HB_CHECK(!by.empty(), "[TorchScript] ValueError: empty separator");
  std::vector<std::string> parts;
  size_t end = all.size();
  for (size_t at; most-- != 0 && end >= by.size() && (at = all.rfind(by, end - by.size())) != kNowhere; end = at)
    parts.push_back(all.substr(at + by.size(), end - at - by.size()));
  parts.push_back(all.substr(0, end));
  std::reverse(parts.begin(), parts.end());
  return out = list_of(parts), true;
}
bool splitlines(Values& a, IValue& out) {
  if (!takes(a, 1, 2)) return false;
  const bool keep = a.size() == 2 && truth(a[1]);
  const std::string &all = text(a[0]), ends = "\n\r\v\f\x1c\x1d\x1e";
  std::vector<std::string> lines;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find_first_of(ends, at), all.size());
    const size_t next = std::min(all.size(), end + (all.compare(end, 2, "\r\n") == 0 ? 2 : 1));
    lines.push_back(all.substr(at, (keep ? next : end) - at));
    at = next;
  }
  return out = list_of(lines), true;
}

bool partition(Values& a, IValue& out) {
  if (!takes(a, 2, 2) || !a[1].isString()) return false;
  const std::string &all = text(a[0]), &by = text(a[1]);
  const size_t at = all.find(by);
  return out = at == kNowhere ? three(all, "", "") : three(all.substr(0, at), by, all.substr(at + by.size())), true;
}
bool rpartition(Values& a, IValue& out) {
  if (!takes(a, 2, 2) || !a[1].isString()) return false;
  const std::string &all = text(a[0]), &by = text(a[1]);
  const size_t at = all.rfind(by);
  return out = at == kNowhere ? three("", "", all) : three(all.substr(0, at), by, all.substr(at + by.size())), true;
}

constexpr Builtin kRows[] = {
    {"aten::startswith", starts_with},
    {"aten::endswith", ends_with},
    {"aten::find", find},
    {"aten::rfind", rfind},
    {"aten::index", index_of<find>},
    {"aten::rindex", index_of<rfind>},
    {"aten::count", count},
    {"aten::replace", replace},
    {"aten::join", join},
    {"aten::split", split},
    {"aten::rsplit", rsplit},
    {"aten::splitlines", splitlines},
    {"aten::partition", partition},
    {"aten::rpartition", rpartition},
};

}  // namespace

std::span<const Builtin> text_part_builtins() { return kRows; }

}  // namespace hb::bridge::script
