// A folder that appears under its name when all its files are whole.
#pragma once

#include <filesystem>

namespace hb::layer_diff::bundle {

/// Makes a folder beside `target`, to be filled; without put_in_place() the destructor removes it. Every failure
/// throws.
class NewFolder {
 public:
  explicit NewFolder(const std::filesystem::path& target);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();

  const std::filesystem::path& path() const { return path_; }
  /// Puts it where `target` is, in one step: a program that is killed leaves the old folder or the new one. Other files
  /// of the old folder stay. On a file system that cannot exchange folders its files are moved one by one.
  void put_in_place() const;

 private:
  bool exchanged() const;

  std::filesystem::path target_, path_;
};

}  // namespace hb::layer_diff::bundle
