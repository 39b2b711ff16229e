#include "output.h"

#include <fstream>
#include <iostream>

#include <halfbridge/error.h>

namespace hb::cli {

void write_output(const std::string& file, const std::string& text) {
  if (file == "-") {
    std::cout << text << std::flush;
    HB_CHECK(std::cout.good(), "cannot write to the standard output");
    return;
  }
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  HB_CHECK(out.good(), "cannot write '", file, "'");
}

}  // namespace hb::cli
