#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/math_constants.h>

namespace c10 {
using namespace hb::bridge::math_constants;
}  // namespace c10
