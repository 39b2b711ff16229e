#include "new_folder.h"

#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <halfbridge/error.h>

namespace hb::layer_diff::bundle {

namespace fs = std::filesystem;

NewFolder::NewFolder(const fs::path& target) {
  std::error_code error;
  target_ = fs::weakly_canonical(target, error);  // what a symbolic link points at is replaced, not the link
  if (!error && !target_.has_filename()) target_ = target_.parent_path();
  if (!error) fs::create_directories(target_.parent_path(), error);
  // A program that was killed may have left the folder of a process with our number.
  bool made = false;
  for (int i = 0; i < 1000 && !made && !error; ++i) {
    path_ = target_.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(i) + ".tmp";
    made = fs::create_directory(path_, error);
  }
  HB_CHECK(made, "[bundle] cannot make a folder beside ", target.string(), ": ",
           error ? error.message() : "too many others were left there");
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

// The old folder's other files get a second name in the new one before the two change places.
bool NewFolder::exchanged() const {
  std::error_code error;
  fs::permissions(path_, fs::status(target_, error).permissions(), error);
  for (fs::directory_iterator old(target_, error), end; !error && old != end; old.increment(error)) {
    const fs::path name = path_ / old->path().filename();
    if (fs::exists(fs::symlink_status(name, error))) continue;
    error.clear();  // it is not there
    fs::copy(old->path(), name,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks | fs::copy_options::create_hard_links,
             error);
  }
  return !error && ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0;
}

void NewFolder::put_in_place() const {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(path_)) files.push_back(file.path());
  std::error_code error;
  if (!fs::exists(target_)) {
    fs::rename(path_, target_, error);
    HB_CHECK(!error, "[bundle] cannot write ", target_.string(), ": ", error.message());
    return;
  }
  if (exchanged()) return;
  for (size_t i = 0; i < files.size() && !error; ++i) fs::rename(files[i], target_ / files[i].filename(), error);
  HB_CHECK(!error, "[bundle] cannot write ", target_.string(), ": ", error.message());
}

}  // namespace hb::layer_diff::bundle
