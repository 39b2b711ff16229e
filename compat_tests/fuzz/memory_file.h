// A file in memory that has a path, written again for every input.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

class MemoryFile {
 public:
  MemoryFile() : file_(::memfd_create("fuzz", 0)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(file_); }
  void write(const void* data, size_t size) {
    if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};
