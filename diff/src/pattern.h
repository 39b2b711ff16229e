// Patterns with * and ?.
#pragma once

#include <string_view>

namespace hb::layer_diff {

bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace hb::layer_diff
