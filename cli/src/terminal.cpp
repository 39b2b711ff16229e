#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace hb::cli {
namespace {

bool utf8() {
  // The first that is set decides, as in setlocale.
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    const std::string locale = value;
    return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

int width(bool is_terminal) {
  constexpr int kLeast = 60, kMost = 400, kFile = 120;
  const char* columns = std::getenv("COLUMNS");
  const int asked = columns ? std::atoi(columns) : 0;
  if (asked > 0) return std::clamp(asked, kLeast, kMost);
  winsize size{};
  if (is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::clamp<int>(size.ws_col, kLeast, kMost);
  }
  return kFile;
}

}  // namespace

layer_diff::TextOptions terminal(bool plain) {
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  layer_diff::TextOptions options;
  options.width = width(is_terminal);
  const char* no_colour = std::getenv("NO_COLOR");
  options.colour = is_terminal && !plain && !(no_colour && *no_colour);
  options.unicode = is_terminal && !plain && utf8();
  return options;
}

}  // namespace hb::cli
