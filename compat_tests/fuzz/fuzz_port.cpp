// Any bytes as a tree of sources: a C++ file, and from a zero byte on its CMakeLists.txt.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "port/uses.h"

namespace {

void write(const std::filesystem::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("fuzz_port_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t zero = text.find('\0');
  write(folder / "main.cpp", text.substr(0, zero));
  write(folder / "CMakeLists.txt", zero == text.npos ? std::string_view() : text.substr(zero + 1));
  hb::cli::port::find_uses(folder.string());
  return 0;
}
