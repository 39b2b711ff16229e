#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/demangle_type.h>

namespace c10 {
using hb::bridge::demangle_type;
}
