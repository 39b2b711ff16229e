// Schemas of operators: what is read prints as a text that reads as the same, as programs that register it again rely
// on.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include <halfbridge/bridge/dispatch/function_schema.h>
#include <halfbridge/error.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string printed;
  try {
    const auto read = hb::bridge::jit::parseSchemaOrName(text);
    if (const auto* name = std::get_if<hb::bridge::OperatorName>(&read)) {
      hb::bridge::toString(*name);
      return 0;
    }
    printed = toString(std::get<hb::bridge::FunctionSchema>(read));
  } catch (const hb::Error&) {
    return 0;
  }
  try {
    if (toString(hb::bridge::jit::parseSchema(printed)) == printed) return 0;
  } catch (const hb::Error& error) {
    std::cerr << error.what() << '\n';
  }
  std::cerr << "another schema when it is read again: " << printed << '\n';
  std::abort();
}
