#pragma once
#include <c10/macros/Macros.h>
#include <halfbridge/bridge/safe_numbers.h>

namespace c10 {
using hb::bridge::add_overflows;
using hb::bridge::mul_overflows;
using hb::bridge::safe_multiplies_u64;
}  // namespace c10
