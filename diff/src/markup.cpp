#include <halfbridge/diff/output.h>

#include "describe.h"

namespace hb::layer_diff {

// printable() takes the control characters, which XML does not allow.
std::string markup_escaped(const std::string& text) {
  std::string result;
  for (char c : printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace hb::layer_diff
