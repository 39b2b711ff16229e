#include "output.h"

#include <filesystem>
#include <fstream>
#include <iostream>

#include <unistd.h>

#include <halfbridge/error.h>

namespace hb::cli {

namespace fs = std::filesystem;

void write_output(const std::string& file, const std::string& text) {
  if (file == "-") {
    std::cout << text << std::flush;
    HB_CHECK(std::cout.good(), "cannot write to the standard output");
    return;
  }
  // A file that is there stays until the new one is whole; a pipe or a device is written as it is.
  std::error_code error;
  const bool replaces = !fs::exists(file, error) || fs::is_regular_file(file, error);
  const std::string target = replaces ? file + "." + std::to_string(::getpid()) + ".tmp" : file;
  std::ofstream out(target, std::ios::binary);
  out << text;
  out.close();
  const bool whole = out.good();
  error.clear();
  if (whole && replaces) {
    std::error_code none;
    fs::rename(target, fs::is_symlink(file, none) ? fs::canonical(file, none) : fs::path(file), error);
  }
  if (replaces && (!whole || error)) {
    std::error_code ignored;
    fs::remove(target, ignored);
  }
  HB_CHECK(whole && !error, "cannot write '", file, "'");
}

}  // namespace hb::cli
