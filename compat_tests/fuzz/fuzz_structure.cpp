// Any bytes as the structure of a value in a safetensors header.
#include <halfbridge/io/state_dict.h>

#include "io/value_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hb::io::NamedTensors tensors{
      {"x", hb::Tensor(hb::make_intrusive<hb::TensorImpl>(hb::StorageImpl::allocate(4, hb::kCPU), hb::kFloat,
                                                          hb::DimVector(1, 1), hb::DimVector(1, 1), 0))}};
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const hb::IValue value = hb::io::value_of_structure(text, tensors, "memory");
    hb::io::flatten(value);
    hb::io::structure_text(value);
  } catch (const hb::Error&) {
  }
  return 0;
}
