// A file that appears under its name only when it is complete.
#pragma once

#include <cstddef>
#include <string>

namespace hb::io {

/// Writes to a temporary file beside `path`; commit() flushes it to the disk and renames it to `path`.
/// Without a commit the destructor removes it, and whatever stood at `path` stays. Every failure throws,
/// naming the path.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t size);
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;
  void create_temporary();
  void flush_buffer();
  void write_all(const char* data, size_t size);

  std::string path_;
  std::string temp_path_;
  std::string buffer_;
  int fd_ = -1;
};

}  // namespace hb::io
