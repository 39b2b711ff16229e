// Output that reads well on a terminal (a bar that moves in place, colour) and in a file or pipe (plain
// lines).
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace demo {

inline bool on_terminal() {
  static const bool yes = isatty(STDOUT_FILENO) && std::getenv("TERM") && std::string(std::getenv("TERM")) != "dumb";
  return yes;
}

inline std::string styled(const char* code, const std::string& text) {
  static const bool colour = on_terminal() && !std::getenv("NO_COLOR");
  return colour ? std::string("\033[") + code + "m" + text + "\033[0m" : text;
}
inline std::string bold(const std::string& text) { return styled("1", text); }
inline std::string dim(const std::string& text) { return styled("2", text); }
inline std::string green(const std::string& text) { return styled("32", text); }
inline std::string red(const std::string& text) { return styled("31", text); }

inline int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

/// `label  ━━━━━╌╌╌  37%  note`: in place on a terminal; elsewhere one line when it is finished.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label) : label_(std::move(label)) {}

  void show(double part, const std::string& note) {
    if (!on_terminal()) return;
    const int room = terminal_width() - static_cast<int>(label_.size() + note.size()) - 11;
    const int width = std::max(0, std::min(30, room)), full = static_cast<int>(part * width);
    std::string bar;
    for (int i = 0; i < width; ++i) bar += i < full ? "━" : "╌";
    std::printf("\r\033[K  %s  %s %3d%%  %s", label_.c_str(), green(bar).c_str(), static_cast<int>(part * 100),
                note.c_str());
    std::fflush(stdout);
  }

  void finish(const std::string& note) {
    if (on_terminal()) std::printf("\r\033[K");
    std::printf("  %s  %s\n", label_.c_str(), note.c_str());
    std::fflush(stdout);
  }

 private:
  std::string label_;
};

}  // namespace demo
