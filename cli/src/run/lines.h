#pragma once
// What several processes print, as whole lines that carry the rank.

#include <deque>
#include <string>

namespace hb::cli {

/// The last lines that a process printed.
class LastLines {
 public:
  void add(const std::string& line);
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  std::deque<std::string> lines_;
};

/// Cuts a stream of bytes into lines and writes each whole to `to` (a file descriptor), with `label` before it. A line
/// of more than 64 KiB is cut.
class LineWriter {
 public:
  LineWriter(int to, std::string label, LastLines& last) : to_(to), label_(std::move(label)), last_(last) {}
  void take(const char* data, size_t size);
  /// Writes what has no end of line yet, with one.
  void finish();

 private:
  void write_line();

  int to_;
  std::string label_, line_;
  LastLines& last_;
};

/// Writes all of it. False where nobody reads any more; waits where the reader is slow.
bool write_all(int to, const std::string& text);

}  // namespace hb::cli
