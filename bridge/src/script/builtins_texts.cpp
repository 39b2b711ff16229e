// Functions of texts.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iostream>

#include <halfbridge/error.h>

#include "script/builtins.h"

namespace hb::bridge::script {
namespace {

bool takes(const Values& a, size_t least, size_t most) {
  return a.size() >= least && a.size() <= most && a[0].isString();
}
const std::string& text(const IValue& value) { return value.toStringRef(); }

// "{}" is the next argument; "{:.2f}" and the like are not for code to use.
bool format(Values& a, IValue& out) {
  if (a.empty() || !a[0].isString()) return false;
  const std::string& form = text(a[0]);
  std::string made;
  size_t next = 1;
  for (size_t i = 0; i < form.size(); ++i) {
    const bool doubled = i + 1 < form.size() && form[i] == form[i + 1] && (form[i] == '{' || form[i] == '}');
    if (form.compare(i, 2, "{}") == 0) {
      HB_CHECK(next < a.size(), "[TorchScript] Too few arguments for format string: ", form);
      made += to_text(a[next++]);
      ++i;
    } else {
      made += form[i];
      i += doubled;
    }
  }
  return out = made, true;
}

// "%s of %d": the arguments are a tuple or one value.
bool percent_format(Values& a, IValue& out) {
  if (!takes(a, 1, size_t{1} << 20)) return false;
  std::vector<IValue> given(a.begin() + 1, a.end());
  if (given.size() == 1 && given[0].isTuple()) given = given[0].toTupleRef().elements();
  const std::string& form = text(a[0]);
  std::string made;
  size_t next = 0;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '%') {
      made += form[i];
      continue;
    }
    HB_CHECK(++i < form.size(), "[TorchScript] Incomplete format specifier");
    if (form[i] == '%') {
      made += '%';
      continue;
    }
    HB_CHECK(next < given.size(), "[TorchScript] Too few arguments for format string");
    const IValue& value = given[next++];
    char number[400];
    switch (form[i]) {
      case 's':
      case 'r':
        made += to_text(value);
        break;
      case 'd':
      case 'i':
        made += std::to_string(to_int(value));
        break;
      case 'f':
      case 'F':
        std::snprintf(number, sizeof number, "%f", to_float(value)), made += number;
        break;
      case 'g':
        std::snprintf(number, sizeof number, "%g", to_float(value)), made += number;
        break;
      case 'e':
        std::snprintf(number, sizeof number, "%e", to_float(value)), made += number;
        break;
      case 'x':
        std::snprintf(number, sizeof number, "%llx", static_cast<unsigned long long>(to_int(value))), made += number;
        break;
      default:
        throw Error("[TorchScript] The specifier %" + std::string(1, form[i]) + " is not supported");
    }
  }
  return out = made, true;
}

template <int (*letter)(int)>
bool mapped(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  std::string made = text(a[0]);
  for (char& c : made) c = static_cast<char>(letter(static_cast<unsigned char>(c)));
  return out = made, true;
}
template <int (*is)(int)>
bool all_are(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  const std::string& all = text(a[0]);
  const auto fits = [](char c) { return is(static_cast<unsigned char>(c)) != 0; };
  return out = !all.empty() && std::all_of(all.begin(), all.end(), fits), true;
}

std::string stripped(const Values& a, bool front, bool back) {
  const std::string set = a.size() == 2 ? text(a[1]) : " \t\n\r\f\v";
  const std::string& whole = text(a[0]);
  size_t from = front ? whole.find_first_not_of(set) : 0;
  if (from == std::string::npos) return "";
  size_t to = back ? whole.find_last_not_of(set) : whole.size() - 1;
  if (to == std::string::npos || whole.empty()) return "";
  return whole.substr(from, to + 1 - from);
}
bool strip(Values& a, IValue& out) { return takes(a, 1, 2) && (out = stripped(a, true, true), true); }
bool lstrip(Values& a, IValue& out) { return takes(a, 1, 2) && (out = stripped(a, true, false), true); }
bool rstrip(Values& a, IValue& out) { return takes(a, 1, 2) && (out = stripped(a, false, true), true); }

bool join(Values& a, IValue& out) {
  if (!takes(a, 2, 2)) return false;
  std::string made;
  bool first = true;
  for (const IValue& item : items_of(a[1])) {
    if (!first) made += text(a[0]);
    made += text(item);
    first = false;
  }
  return out = made, true;
}

bool split(Values& a, IValue& out) {
  if (!takes(a, 1, 3)) return false;
  int64_t most = a.size() == 3 ? to_int(a[2]) : -1;
  const std::string& all = text(a[0]);
  std::vector<IValue> parts;
  if (a.size() == 1 || a[1].isNone()) {
    const std::string blank = " \t\n\r\f\v";
    for (size_t at = all.find_first_not_of(blank); at != std::string::npos;) {
      const size_t end = std::min(all.find_first_of(blank, at), all.size());
      if (most-- == 0) {
        parts.emplace_back(all.substr(at));
        break;
      }
      parts.emplace_back(all.substr(at, end - at));
      at = all.find_first_not_of(blank, end);
    }
  } else {
    const std::string& by = text(a[1]);
    HB_CHECK(!by.empty(), "[TorchScript] ValueError: empty separator");
    size_t at = 0;
    for (size_t end; most-- != 0 && (end = all.find(by, at)) != std::string::npos; at = end + by.size())
      parts.emplace_back(all.substr(at, end - at));
    parts.emplace_back(all.substr(at));
  }
  out = list_of_items(std::move(parts));
  out.toList().data()->element_type = StringType::get();
  return true;
}

bool starts_with(Values& a, IValue& out) {
  return takes(a, 2, 2) && (out = text(a[0]).rfind(text(a[1]), 0) == 0, true);
}
bool ends_with(Values& a, IValue& out) {
  if (!takes(a, 2, 2)) return false;
  const std::string &all = text(a[0]), &end = text(a[1]);
  return out = all.size() >= end.size() && all.compare(all.size() - end.size(), end.size(), end) == 0, true;
}
bool find(Values& a, IValue& out) {
  if (!takes(a, 2, 2)) return false;
  const size_t at = text(a[0]).find(text(a[1]));
  return out = at == std::string::npos ? int64_t{-1} : static_cast<int64_t>(at), true;
}
bool rfind(Values& a, IValue& out) {
  if (!takes(a, 2, 2)) return false;
  const size_t at = text(a[0]).rfind(text(a[1]));
  return out = at == std::string::npos ? int64_t{-1} : static_cast<int64_t>(at), true;
}
bool count(Values& a, IValue& out) {
  if (!takes(a, 2, 2) || text(a[1]).empty()) return false;
  int64_t n = 0;
  for (size_t at = text(a[0]).find(text(a[1])); at != std::string::npos; ++n)
    at = text(a[0]).find(text(a[1]), at + text(a[1]).size());
  return out = n, true;
}
bool replace(Values& a, IValue& out) {
  if (!takes(a, 3, 3)) return false;
  const std::string &all = text(a[0]), &old = text(a[1]), &by = text(a[2]);
  HB_CHECK(!old.empty(), "[TorchScript] ValueError: replace() expected a text to look for");
  std::string made;
  size_t at = 0;
  for (size_t end; (end = all.find(old, at)) != std::string::npos; at = end + old.size())
    made += all.substr(at, end - at) + by;
  return out = made + all.substr(at), true;
}
bool as_text(Values& a, IValue& out) { return a.size() == 1 && (out = to_text(a[0]), true); }
bool ord(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  HB_CHECK(text(a[0]).size() == 1, "[TorchScript] ord() expected a text of one character");
  return out = int64_t{static_cast<unsigned char>(text(a[0])[0])}, true;
}
bool chr(Values& a, IValue& out) {
  if (a.size() != 1) return false;
  const int64_t code = to_int(a[0]);
  HB_CHECK(code >= 0 && code < 128, "[TorchScript] chr() expected 0 to 127, got ", code);
  return out = std::string(1, static_cast<char>(code)), true;
}
bool print(Values& a, IValue& out) {
  std::string line;
  for (const IValue& value : a) line += (&value == a.data() ? "" : " ") + to_text(value);
  std::cout << line << "\n";
  return out = IValue(), true;
}

constexpr Builtin kRows[] = {
    {"aten::format", format},
    {"aten::percentFormat", percent_format},
    {"aten::lower", mapped<std::tolower>},
    {"aten::upper", mapped<std::toupper>},
    {"aten::isdigit", all_are<std::isdigit>},
    {"aten::isalpha", all_are<std::isalpha>},
    {"aten::isalnum", all_are<std::isalnum>},
    {"aten::isspace", all_are<std::isspace>},
    {"aten::isupper", all_are<std::isupper>},
    {"aten::islower", all_are<std::islower>},
    {"aten::strip", strip},
    {"aten::lstrip", lstrip},
    {"aten::rstrip", rstrip},
    {"aten::join", join},
    {"aten::split", split},
    {"aten::startswith", starts_with},
    {"aten::endswith", ends_with},
    {"aten::find", find},
    {"aten::rfind", rfind},
    {"aten::count", count},
    {"aten::replace", replace},
    {"aten::str", as_text},
    {"prim::str", as_text},
    {"aten::ord", ord},
    {"aten::chr", chr},
    {"prim::Print", print},
};

}  // namespace

std::span<const Builtin> text_builtins() { return kRows; }

}  // namespace hb::bridge::script
