#include "io/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io_error.h"

namespace hb::io {
namespace {

constexpr size_t kBufferSize = size_t{1} << 16;

// A symbolic link is followed, so that a save replaces what it points at and not the link.
std::string resolve_links(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (!real) return path;
  std::string resolved(real);
  std::free(real);
  return resolved;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_special_file(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(resolve_links(path)) {
  struct stat info;
  if (::stat(path_.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    fail("cannot write");
  }
  if (is_special_file(path_)) {  // a pipe or a device cannot be replaced by renaming
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail("cannot open");
    return;
  }
  create_temporary();
  if (::stat(path_.c_str(), &info) == 0) ::fchmod(fd_, info.st_mode & 07777);  // a replaced file keeps its mode
}

void AtomicFile::create_temporary() {
  static std::atomic<unsigned> counter{0};
  const std::string stem = path_ + "." + std::to_string(::getpid()) + "-";
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::string name = stem + std::to_string(counter++) + ".tmp";
    fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ >= 0) {
      temp_path_ = std::move(name);
      return;
    }
    if (errno != EEXIST) break;
  }
  fail("cannot create a temporary file beside");
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temp_path_.empty()) ::unlink(temp_path_.c_str());
}

void AtomicFile::fail(const char* what) const {
  const int code = errno;
  io_fail("save", what, " '", path_, "': ", std::strerror(code));
}

void AtomicFile::write_all(const char* data, size_t size) {
  while (size > 0) {
    const ssize_t done = ::write(fd_, data, size);
    if (done < 0) {
      if (errno == EINTR) continue;
      fail("cannot write");
    }
    data += done;
    size -= static_cast<size_t>(done);
  }
}

void AtomicFile::flush_buffer() {
  write_all(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::write(const void* data, size_t size) {
  if (buffer_.size() + size > kBufferSize) flush_buffer();
  if (size >= kBufferSize) {
    write_all(static_cast<const char*>(data), size);
  } else {
    buffer_.append(static_cast<const char*>(data), size);
  }
}

void AtomicFile::commit() {
  flush_buffer();
  if (!temp_path_.empty() && ::fsync(fd_) != 0) fail("cannot flush");
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) fail("cannot close");
  if (temp_path_.empty()) return;
  if (::rename(temp_path_.c_str(), path_.c_str()) != 0) fail("cannot replace");
  temp_path_.clear();
  // The rename itself must survive a power cut; a file system that cannot sync a folder is not an error.
  const int folder = ::open(parent_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

}  // namespace hb::io
