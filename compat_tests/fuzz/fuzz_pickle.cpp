// Any bytes as the pickle in an archive, so that no checksum stands between the fuzzer and the parser.
#include <halfbridge/io/checkpoint.h>
#include <halfbridge/io/pickle.h>

#include <sstream>

#include "io/zip_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::string pickle(reinterpret_cast<const char*>(data), size);
    const hb::IValue value = hb::io::pickle_load(unit::archive_of(pickle));
    hb::io::pickle_save(value);  // what loads can be saved, or says why not
  } catch (const hb::Error&) {
  }
  try {
    const hb::Tensor table[] = {hb::Tensor(), hb::Tensor()};
    const hb::IValue value = hb::io::unpickle({reinterpret_cast<const char*>(data), size}, hb::TensorList(table));
    std::vector<hb::Tensor> tensors;
    hb::io::pickle(value, &tensors);
  } catch (const hb::Error&) {
  }
  return 0;
}
