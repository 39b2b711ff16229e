// Source texts of TorchScript, as archives hold them: parsed, not run.
#include <string_view>

#include <halfbridge/error.h>

#include "script/syntax.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    hb::bridge::script::parse_source(std::string_view(reinterpret_cast<const char*>(data), size), "source");
  } catch (const hb::Error&) {
  }
  return 0;
}
