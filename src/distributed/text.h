#pragma once
// Texts and bytes of stores.

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include <halfbridge/error.h>

namespace hb::distributed {

inline std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }
inline std::string text_of(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

/// The number that `add` keeps under a key.
inline int64_t number_of(const std::string& key, const std::vector<uint8_t>& value) {
  const char* begin = reinterpret_cast<const char*>(value.data());
  const char* end = begin + value.size();
  int64_t number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number);
  HB_CHECK(error == std::errc() && stop == end, "[add] expected a whole number under the key '", key, "', got '",
           text_of(value).substr(0, 64), "'");
  return number;
}

/// "a, b, c": what a message lists.
template <class List>
std::string listed(const List& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + detail::str(item);
  return text;
}

}  // namespace hb::distributed
