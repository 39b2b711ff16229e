// Any bytes as a safetensors file.
#include <halfbridge/io/safetensors.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    hb::io::parse_safetensors(data, size);
  } catch (const hb::Error&) {
  }
  return 0;
}
