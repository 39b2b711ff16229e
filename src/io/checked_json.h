// JSON of files that may be hostile.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace hb::io {

/// Parses a text that nests at most `max_depth` objects and lists, in which no object has a key twice. `fail` throws
/// the error that it is given; a text that is no JSON is nlohmann::json::exception. Time and memory grow with the text:
/// nlohmann's own callbacks take a time that grows with the square of an object's members.
nlohmann::json parse_checked_json(std::string_view text, size_t max_depth,
                                  const std::function<void(const std::string& why)>& fail);

}  // namespace hb::io
