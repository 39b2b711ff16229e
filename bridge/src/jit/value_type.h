#pragma once

#include <string_view>

#include <halfbridge/ivalue.h>

namespace hb::bridge::jit {

/// Whether a value may stand where code declares this type ("Optional[List[int]]"). Types that only LibTorch can
/// compare, as unions and interfaces, take anything.
bool fits_type(const IValue& value, std::string_view type);

}  // namespace hb::bridge::jit
