// Any bytes as the index of sharded safetensors. No file that it names may lie outside its folder.
#include <cstdlib>

#include <halfbridge/error.h>

#include "io/safetensors_shards.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto index = hb::io::parse_shard_index({reinterpret_cast<const char*>(data), size}, "memory");
    for (const auto& item : index.files)
      if (item.second.find('/') != std::string::npos) std::abort();
  } catch (const hb::Error&) {
  }
  return 0;
}
