#pragma once
#include <c10/macros/Macros.h>
#include <halfbridge/bridge/symbol.h>

namespace c10 {
using hb::bridge::domain_prefix;
using hb::bridge::Symbol;
using hb::bridge::unique_t;
}  // namespace c10
