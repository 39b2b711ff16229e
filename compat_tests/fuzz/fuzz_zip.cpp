// Any bytes as an archive of PyTorch.
#include <halfbridge/io/checkpoint.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    hb::io::pickle_load(std::vector<char>(data, data + size));
  } catch (const hb::Error&) {  // what a file that lies must give
  }
  return 0;
}
