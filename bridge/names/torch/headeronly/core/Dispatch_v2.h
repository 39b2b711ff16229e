#pragma once
// THO_DISPATCH_V2(dtype, "name", AT_WRAP([&] { ... scalar_t ... }), AT_EXPAND(AT_ALL_TYPES), ...)

#include <ATen/Dispatch_v2.h>
#include <torch/headeronly/core/Dispatch.h>

#define THO_DISPATCH_V2(TYPE, NAME, BODY, ...) \
  THO_DISPATCH_SWITCH(TYPE, NAME, HB_V2_RESCAN(HB_V2_CASES((BODY), __VA_ARGS__)))
