#include "temporary.h"

#include <cstdlib>
#include <filesystem>

#include <halfbridge/error.h>

namespace hb::cli {

TemporaryFolder::TemporaryFolder(const std::string& name)
    : path_((std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string()) {
  HB_CHECK(mkdtemp(path_.data()), "[", name, "] cannot make a folder ", path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hb::cli
