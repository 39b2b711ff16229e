// Any bytes as an IDX file, plain or gzipped.
#include <halfbridge/error.h>
#include <halfbridge/io/idx.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    hb::io::parse_idx(data, size);
  } catch (const hb::Error&) {
  }
  return 0;
}
