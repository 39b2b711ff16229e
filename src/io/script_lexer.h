// Reads one line of a TorchScript archive's code.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hb::io {

/// A place in a line. Functions that take something move on when it is there and leave the place alone when it is not.
class ScriptLine {
 public:
  explicit ScriptLine(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  void skip_spaces();
  /// Takes these characters.
  bool take(std::string_view expected);
  /// Takes letters, digits and underscores; returns "" where there are none.
  std::string_view take_name();
  /// Takes a text in double quotes, as the code prints them: with \n, \", \ooo for other bytes.
  bool take_string(std::string& value);
  std::string_view rest() const { return text_.substr(at_); }

 private:
  char take_escape();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace hb::io
