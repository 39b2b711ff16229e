#pragma once

#include <string_view>
#include <vector>

#include <halfbridge/ivalue.h>

namespace hb::bridge::jit {

/// Whether a value may stand where code declares this type ("Optional[List[int]]"). Types that only LibTorch can
/// compare, as unions and interfaces, take anything.
bool fits_type(const IValue& value, std::string_view type);

/// Turns "List[int]" into "int" where the name is "List"; false where it is not.
bool take_wrapper(std::string_view& type, std::string_view name);
/// The parts of "str, List[int]".
std::vector<std::string_view> type_arguments(std::string_view text);

}  // namespace hb::bridge::jit
