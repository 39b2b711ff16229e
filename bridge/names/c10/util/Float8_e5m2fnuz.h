#pragma once
#include <halfbridge/bridge/float8.h>

namespace c10 {
using hb::bridge::Float8_e5m2fnuz;
}
