// The code and the pickle of a TorchScript archive, divided by the first zero byte: declarations, attributes in their
// order, constants. fuzz_state_dict has whole archives.
#include <string_view>

#include <halfbridge/io/state_dict.h>

#include "io/module_layout.h"
#include "io/script_code.h"
#include "io/torch_archive.h"

namespace {

void look_at(const hb::IValue& value) {
  if (!value.isObject()) return;
  const auto& object = *value.toObject();
  if (object.declared) {
    for (const auto& [name, text] : object.declared->constants) {
      try {
        hb::io::value_of_literal(text);
      } catch (const hb::Error&) {
      }
    }
  }
  std::vector<std::pair<std::string, hb::IValue>> others;
  hb::io::flatten(value);  // bounds how often a part may be shared
  hb::io::state_of_script(object, others);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t zero = std::min(input.find('\0'), size);
  std::string archive;
  hb::io::ZipWriter zip(
      "a", [&](const void* bytes, size_t count) { archive.append(static_cast<const char*>(bytes), count); });
  zip.add("version", "3\n");
  zip.add("data/0", std::string(16, '\1'));
  zip.add("code/__torch__.py", input.substr(0, zero));
  zip.add("data.pkl", input.substr(std::min(zero + 1, size)));
  zip.finish();
  try {
    look_at(
        hb::io::read_torch_archive(hb::io::ZipReader::open_memory(archive.data(), archive.size(), "memory"), hb::kCPU));
  } catch (const hb::Error&) {
  }
  return 0;
}
