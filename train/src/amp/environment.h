#pragma once

#include <string>

#include <halfbridge/dtype.h>
#include <halfbridge/macros.h>

namespace hb::amp {

/// What HALFBRIDGE_AMP asks for.
struct Environment {
  int level = 0;
  ScalarType dtype = kHalf;
  double fixed_scale = 0;  // 0: dynamic with fp16, none with bf16
};
/// Throws ValueError for a value that says nothing.
Environment parse_environment(const std::string& value);

}  // namespace hb::amp
