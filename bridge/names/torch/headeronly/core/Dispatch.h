#pragma once
// THO_DISPATCH_SWITCH(dtype, "name", THO_DISPATCH_CASE(dtype, [&] { ... scalar_t ... })...): AT_DISPATCH_SWITCH for
// torch::headeronly; what no case fits throws std::runtime_error.

#include <ATen/Dispatch.h>
#include <torch/headeronly/names.h>

#define THO_DISPATCH_CASE(enum_type, ...) AT_DISPATCH_CASE(enum_type, __VA_ARGS__)
#define THO_DISPATCH_SWITCH(TYPE, NAME, ...)                                                                  \
  [&] {                                                                                                       \
    const ::hb::ScalarType hb_dispatch_type = TYPE;                                                           \
    switch (hb_dispatch_type) {                                                                               \
      __VA_ARGS__                                                                                             \
      default:                                                                                                \
        STD_TORCH_CHECK(false, '"', NAME, "\" not implemented for '", ::hb::toString(hb_dispatch_type), "'"); \
    }                                                                                                         \
  }()
