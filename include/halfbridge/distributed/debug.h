#pragma once

#include <halfbridge/macros.h>

namespace hb::distributed {

/// How much the ranks check each other: Detail has every collective compared between the ranks before it runs.
enum class DebugLevel { Off = 0, Info = 1, Detail = 2 };

HB_API void setDebugLevel(DebugLevel level);
/// From TORCH_DISTRIBUTED_DEBUG or HALFBRIDGE_DISTRIBUTED_DEBUG: OFF, INFO or DETAIL. Throws on anything else.
HB_API void setDebugLevelFromEnvironment();
/// The level that was set, at first the environment's.
HB_API DebugLevel debug_level();

}  // namespace hb::distributed
