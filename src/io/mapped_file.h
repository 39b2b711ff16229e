// A file's bytes as memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hb::io {

/// Maps a regular file for reading. Throws hb::Error "[operation] …" that names the path.
class MappedFile {
 public:
  MappedFile(const std::string& path, const char* operation);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace hb::io
