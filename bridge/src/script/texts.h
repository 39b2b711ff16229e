#pragma once
// What functions of texts share.

#include <string>

#include "script/builtins.h"

namespace hb::bridge::script {

/// Whether these are `least` to `most` arguments, the first of them a text.
inline bool takes(const Values& a, size_t least, size_t most) {
  return a.size() >= least && a.size() <= most && a[0].isString();
}
inline const std::string& text(const IValue& value) { return value.toStringRef(); }

}  // namespace hb::bridge::script
