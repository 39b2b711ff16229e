#include "lines.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hb::cli {

namespace {
constexpr size_t kLastLines = 20, kLongest = 64 << 10;
}

void LastLines::add(const std::string& line) {
  lines_.push_back(line);
  if (lines_.size() > kLastLines) lines_.pop_front();
}

bool write_all(int to, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(to, text.data() + done, text.size() - done);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno == EAGAIN) {
      pollfd ready{to, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void LineWriter::take(const char* data, size_t size) {
  while (size > 0) {
    const void* end = std::memchr(data, '\n', size);
    const size_t n = end ? static_cast<size_t>(static_cast<const char*>(end) - data) : size;
    line_.append(data, n);
    if (end || line_.size() >= kLongest) write_line();
    const size_t used = end ? n + 1 : n;
    data += used, size -= used;
  }
}

void LineWriter::finish() {
  if (!line_.empty()) write_line();
}

void LineWriter::write_line() {
  last_.add(line_);
  // One write, so that lines of several processes do not mix. A reader that went away does not stop the training.
  write_all(to_, label_ + line_ + '\n');
  line_.clear();
}

}  // namespace hb::cli
