#pragma once
// What processes give each other: files in shared memory, one for each rank and step, which appear complete.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace stand_in {

using Bytes = std::string;

inline std::string new_folder() {
  const char* chosen = std::getenv("TMPDIR");
  std::string pattern = std::string(chosen ? chosen : "/dev/shm") + "/nccl_stand_in_XXXXXX";
  if (!mkdtemp(pattern.data())) return {};
  return pattern;
}

/// A folder that the ranks of a communicator share. A rank holds a lock on a file of its own while it lives, and takes
/// the file away when it leaves in good order.
class Exchange {
 public:
  Exchange(std::string folder, int rank, int size) : folder_(std::move(folder)), rank_(rank), size_(size) {
    const std::string draft = alive_file(rank) + ".draft";
    lock_ = open(draft.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    flock(lock_, LOCK_EX | LOCK_NB);
    std::rename(draft.c_str(), alive_file(rank).c_str());
  }
  ~Exchange() {
    unlink(alive_file(rank_).c_str());
    close(lock_);
    if (last("left")) {
      std::error_code ignored;
      std::filesystem::remove_all(folder_, ignored);
    }
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  bool there(const std::string& name) const { return access(path(name).c_str(), F_OK) == 0; }
  void put(const std::string& name, const void* data, size_t bytes) const {
    const std::string draft = path(name) + ".draft";
    std::ofstream(draft, std::ios::binary).write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    std::rename(draft.c_str(), path(name).c_str());
  }
  Bytes get(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void remove(const std::string& name) const { unlink(path(name).c_str()); }
  /// True for the last rank that calls it with this name.
  bool last(const std::string& name) const {
    const std::string file = path(name);
    const int fd = open(file.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    const bool counted = write(fd, "x", 1) == 1;
    const bool all = counted && lseek(fd, 0, SEEK_END) >= size_;
    close(fd);
    return all;
  }
  /// Whether a rank that had come is gone, and not in good order. What it left is looked at once its lock is free: it
  /// may be leaving meanwhile.
  bool dead(int rank) const {
    const int fd = open(alive_file(rank).c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return false;
    struct stat file = {};
    const bool gone = flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &file) == 0 && file.st_nlink > 0;
    close(fd);
    return gone;
  }

 private:
  std::string alive_file(int rank) const { return path("alive" + std::to_string(rank)); }
  std::string folder_;
  int rank_, size_, lock_;
};

}  // namespace stand_in
