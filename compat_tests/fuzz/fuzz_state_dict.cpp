// Any bytes as a file of any format: detection, archives of modules and optimizers, the structure in a safetensors
// header.
#include <halfbridge/io/state_dict.h>

#include "io/module_layout.h"
#include "io/value_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto file = hb::io::parse_state_dict(data, size);
    hb::io::structure_text(file.value);  // what loads can be saved, or says why not
    hb::io::archive_of_value(file.value, {});
  } catch (const hb::Error&) {
  }
  return 0;
}
