#include "parity/recorded_file.h"

#include <cstdlib>

namespace parity {

std::string recorded_file(const std::string& name) {
  const char* const folder = std::getenv("HALFBRIDGE_RECORDED_FILES");
  return std::string(folder ? folder : HALFBRIDGE_RECORDED_FILES) + "/" + name;
}

}  // namespace parity
