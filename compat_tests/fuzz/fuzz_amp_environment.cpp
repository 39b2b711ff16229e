// HALFBRIDGE_AMP's text: what is read has a level, a half type and a scale that gradients can be divided by.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <halfbridge/error.h>

#include "amp/environment.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto e = hb::amp::parse_environment(std::string(reinterpret_cast<const char*>(data), size));
    const bool good = e.level >= 0 && e.level <= 3 && hb::is_half_type(e.dtype) && e.fixed_scale >= 0;
    if (!good || !std::isfinite(e.fixed_scale)) std::abort();
  } catch (const hb::Error&) {
  }
  return 0;
}
