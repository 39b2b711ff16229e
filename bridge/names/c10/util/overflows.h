#pragma once
#include <halfbridge/bridge/safe_numbers.h>

namespace c10 {
using hb::bridge::overflows;
}  // namespace c10
