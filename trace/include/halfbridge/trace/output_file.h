#pragma once
// A file that is written front to back, past the page cache where the disk is fast enough.

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace hb::trace::detail {

/// Large aligned pieces go straight to the disk while that takes them at `kFast` or more: the page cache costs a copy
/// of everything, on a processor that the traced program computes with. A slower disk is behind the page cache, which
/// takes a trace of moderate size at memory's speed. Functions return 0 or an errno.
class OutputFile {
 public:
  /// What the offset, the size and the memory of a piece must be a multiple of to go straight to the disk.
  static constexpr size_t kAlignment = 4096;

  OutputFile() = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() { close(); }

  bool is_open() const { return cached_ >= 0; }
  int open(const std::string& path) {
    cached_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (cached_ < 0) return errno;
#ifdef O_DIRECT
    if (!slow_) direct_ = ::open(path.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC);  // not every file system has it
#endif
    return 0;
  }
  /// `written`: how many of the bytes reached the file, all of them unless there was an error.
  int write(const void* data, size_t bytes, int64_t offset, size_t* written) {
    *written = 0;
    const bool aligned =
        offset % kAlignment == 0 && bytes % kAlignment == 0 && reinterpret_cast<uintptr_t>(data) % kAlignment == 0;
    if (direct_ >= 0 && aligned && bytes >= kLarge) {
      const auto begin = Clock::now();
      const int error = write_all(direct_, data, bytes, offset, written);
      judge(*written, Clock::now() - begin);
      if (error == 0) return 0;
      stop_direct();  // with the page cache the rest may still succeed
    }
    return write_all(cached_, data, bytes, offset, written);
  }
  int truncate(int64_t bytes) { return ::ftruncate(cached_, static_cast<off_t>(bytes)) == 0 ? 0 : errno; }
  int close() {
    stop_direct();
    const int fd = cached_;
    cached_ = -1;
    return fd >= 0 && ::close(fd) != 0 ? errno : 0;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kLarge = size_t{1} << 20;
  static constexpr double kFast = 500e6;  // bytes per second
  static constexpr int64_t kJudged = int64_t{32} << 20;

  static int write_all(int fd, const void* data, size_t bytes, int64_t offset, size_t* written) {
    while (*written < bytes) {
      const ssize_t n = ::pwrite(fd, static_cast<const char*>(data) + *written, bytes - *written,
                                 static_cast<off_t>(offset + static_cast<int64_t>(*written)));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno;
      if (n == 0) return ENOSPC;
      *written += static_cast<size_t>(n);
    }
    return 0;
  }
  void judge(size_t bytes, Clock::duration took) {
    judged_ += static_cast<int64_t>(bytes);
    seconds_ += std::chrono::duration<double>(took).count();
    if (judged_ < kJudged) return;
    slow_ = static_cast<double>(judged_) < kFast * seconds_;
    judged_ = 0, seconds_ = 0;
    if (slow_) stop_direct();
  }
  void stop_direct() {
    if (direct_ >= 0) ::close(direct_);
    direct_ = -1;
  }

  int cached_ = -1, direct_ = -1;
  int64_t judged_ = 0;
  double seconds_ = 0;
  bool slow_ = false;  // of this disk, for the files that follow
};

}  // namespace hb::trace::detail
