#pragma once

#include <halfbridge/dtype.h>
#include <halfbridge/error.h>

/// Calls fn(T()) with the C++ type of a floating dtype.
#define HB_FLOATING_SWITCH(name, dtype, ...)                                    \
  do {                                                                          \
    const auto body_ = __VA_ARGS__;                                             \
    switch (dtype) {                                                            \
      case kFloat:                                                              \
        body_(float());                                                         \
        break;                                                                  \
      case kDouble:                                                             \
        body_(double());                                                        \
        break;                                                                  \
      case kHalf:                                                               \
        body_(Half());                                                          \
        break;                                                                  \
      case kBFloat16:                                                           \
        body_(BFloat16());                                                      \
        break;                                                                  \
      default:                                                                  \
        HB_CHECK(false, "[", name, "] expected a floating dtype, got ", dtype); \
    }                                                                           \
  } while (0)
