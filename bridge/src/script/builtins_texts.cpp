// Functions of texts.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iostream>

#include <halfbridge/error.h>

#include "script/texts.h"

namespace hb::bridge::script {
namespace {

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
      case 'c':
        made += value.isInt() ? std::string(1, static_cast<char>(value.toInt())) : text(value);
        break;
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

int letter(char c) { return static_cast<unsigned char>(c); }

template <int (*to)(int)>
bool mapped(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  std::string made = text(a[0]);
  for (char& c : made) c = static_cast<char>(to(letter(c)));
  return out = made, true;
}
bool swapped(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  std::string made = text(a[0]);
  for (char& c : made)
    c = static_cast<char>(std::islower(letter(c)) ? std::toupper(letter(c)) : std::tolower(letter(c)));
  return out = made, true;
}
/// The first letter of the text, or of each of its words, is a large one, the others are small.
template <bool words>
bool titled(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  std::string made = text(a[0]);
  bool first = true;
  for (char& c : made) {
    c = static_cast<char>(first ? std::toupper(letter(c)) : std::tolower(letter(c)));
    first = words && !std::isalpha(letter(c));
  }
  return out = made, true;
}

template <int (*is)(int)>
bool all_are(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  const std::string& all = text(a[0]);
  return out = !all.empty() && std::all_of(all.begin(), all.end(), [](char c) { return is(letter(c)) != 0; }), true;
}
/// There are letters, and all of them are of that kind.
template <int (*is)(int)>
bool letters_are(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  bool any = false, all = true;
  for (const char c : text(a[0]))
    if (std::isalpha(letter(c))) any = true, all = all && is(letter(c));
  return out = any && all, true;
}
bool is_printable(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  const std::string& all = text(a[0]);
  return out = std::all_of(all.begin(), all.end(), [](char c) { return std::isprint(letter(c)) != 0; }), true;
}
bool is_identifier(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  const std::string& all = text(a[0]);
  const auto fits = [](char c) { return c == '_' || std::isalnum(letter(c)) != 0; };
  return out = !all.empty() && !std::isdigit(letter(all[0])) && std::all_of(all.begin(), all.end(), fits), true;
}
bool is_title(Values& a, IValue& out) {
  if (!takes(a, 1, 1)) return false;
  bool any = false, all = true, first = true;
  for (const char c : text(a[0])) {
    const bool is = std::isalpha(letter(c)) != 0;
    any = any || is;
    if (is) all = all && first == (std::isupper(letter(c)) != 0);
    first = !is;
  }
  return out = any && all, true;
}

enum class Side { Left, Right, Both };
/// (text, width, filling): `side` is where the filling goes.
template <Side side, char kFilling = ' '>
bool padded(Values& a, IValue& out) {
  if (!takes(a, 2, 3)) return false;
  const std::string &all = text(a[0]), filling = a.size() == 3 ? text(a[2]) : std::string(1, kFilling);
  HB_CHECK(filling.size() == 1, "[TorchScript] TypeError: The fill character must be exactly one character long");
  const auto size = static_cast<int64_t>(all.size());
  const int64_t more = std::max(size, to_int(a[1])) - size;
  check_length(static_cast<size_t>(size + more));
  const int64_t left = side == Side::Left ? more : side == Side::Right ? 0 : more / 2 + (more & (size + more) & 1);
  return out = std::string(left, filling[0]) + all + std::string(more - left, filling[0]), true;
}
bool expandtabs(Values& a, IValue& out) {
  if (!takes(a, 1, 2)) return false;
  const int64_t step = a.size() == 2 && !a[1].isNone() ? to_int(a[1]) : 8;
  HB_CHECK(step <= 1024, "[TorchScript] expected tabs of at most 1024 characters, got ", step);
  std::string made;
  int64_t column = 0;
  for (const char c : text(a[0])) {
    if (c == '\t') {
      const int64_t blanks = step > 0 ? step - column % step : 0;
      check_length(made.size());
      made.append(blanks, ' ');
      column += blanks;
    } else {
      made += c;
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
  }
  return out = made, true;
}

/// hex(), oct() and bin() of an integer.
template <int kBits>
bool digits_of(Values& a, IValue& out) {
  if (a.size() != 1 || !is_whole(a[0])) return false;
  const int64_t value = whole(a[0]);
  uint64_t rest = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  std::string made;
  do {
    made += "0123456789abcdef"[rest & ((1 << kBits) - 1)];
    rest >>= kBits;
  } while (rest != 0);
  made += kBits == 4 ? "x0" : kBits == 3 ? "o0" : "b0";
  if (value < 0) made += '-';
  return out = std::string(made.rbegin(), made.rend()), true;
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
    {"aten::isupper", letters_are<std::isupper>},
    {"aten::islower", letters_are<std::islower>},
    {"aten::istitle", is_title},
    {"aten::isdecimal", all_are<std::isdigit>},
    {"aten::isnumeric", all_are<std::isdigit>},
    {"aten::isidentifier", is_identifier},
    {"aten::isprintable", is_printable},
    {"aten::capitalize", titled<false>},
    {"aten::title", titled<true>},
    {"aten::swapcase", swapped},
    {"aten::ljust", padded<Side::Right>},
    {"aten::rjust", padded<Side::Left>},
    {"aten::center", padded<Side::Both>},
    {"aten::zfill", padded<Side::Left, '0'>},
    {"aten::expandtabs", expandtabs},
    {"aten::hex", digits_of<4>},
    {"aten::oct", digits_of<3>},
    {"aten::bin", digits_of<1>},
    {"aten::strip", strip},
    {"aten::lstrip", lstrip},
    {"aten::rstrip", rstrip},
    {"aten::str", as_text},
    {"prim::str", as_text},
    {"aten::ord", ord},
    {"aten::chr", chr},
    {"prim::Print", print},
};

}  // namespace

std::span<const Builtin> text_builtins() { return kRows; }

}  // namespace hb::bridge::script
