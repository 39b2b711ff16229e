#include "io/mapped_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io_error.h"

namespace hb::io {

MappedFile::MappedFile(const std::string& path, const char* operation) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) io_fail(operation, "cannot open '", path, "': ", std::strerror(errno));
  struct stat info;
  const bool known = ::fstat(fd, &info) == 0;
  if (known && S_ISREG(info.st_mode) && info.st_size > 0) {
    size_ = static_cast<size_t>(info.st_size);
    void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    data_ = memory == MAP_FAILED ? nullptr : static_cast<const char*>(memory);
  }
  const int error = errno;
  ::close(fd);
  if (known && !S_ISREG(info.st_mode)) io_fail(operation, "expected a regular file, got '", path, "'");
  if (!known || (size_ > 0 && !data_)) io_fail(operation, "cannot read '", path, "': ", std::strerror(error));
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace hb::io
