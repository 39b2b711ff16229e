#pragma once

#include <string>

namespace hb::cli {

/// A folder that goes when this does.
class TemporaryFolder {
 public:
  /// Throws hb::Error where it cannot be made.
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace hb::cli
