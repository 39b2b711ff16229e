// Any bytes as what follows the magic number of torch.save's form before 1.6.
#include <halfbridge/io/state_dict.h>

#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
  bytes.append(reinterpret_cast<const char*>(data), size);
  try {
    const auto file = hb::io::parse_state_dict(bytes.data(), bytes.size());
    hb::io::flatten_others(file.value);
  } catch (const hb::Error&) {
  }
  return 0;
}
