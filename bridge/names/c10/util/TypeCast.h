#pragma once
#include <halfbridge/bridge/safe_numbers.h>

namespace c10 {
using hb::bridge::checked_convert;
using hb::bridge::convert;
using hb::bridge::overflows;
}  // namespace c10
