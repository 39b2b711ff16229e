#pragma once
// Patterns of module paths.

#include <string_view>

namespace hb::trace {

/// Whether all of `text` matches: `*` stands for any characters, dots too, `?` for one.
inline bool matches_pattern(std::string_view pattern, std::string_view text) {
  // One star at a time is tried again, which keeps the time to the product of the lengths.
  size_t p = 0, t = 0, star = std::string_view::npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1, t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace hb::trace
