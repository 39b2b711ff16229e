#pragma once
// The tokens of TorchScript's source text, with the lines and indentation that Python gives a meaning.

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace hb::bridge::script {

struct Token {
  enum class Kind { Name, Number, Text, Symbol, Newline, Indent, Dedent, End };
  Kind kind = Kind::End;
  std::string_view text;  // a Text with its quotes
  int line = 1;
};

/// Gives one token after the other. The text must outlive the lexer; `label` names it in errors.
class Lexer {
 public:
  Lexer(std::string_view text, std::string label);

  const Token& now() const { return now_; }
  /// The token after now().
  const Token& next() const { return next_; }
  bool is(std::string_view symbol_or_word) const;
  Token take();
  /// Takes the symbol or word if it is there.
  bool take_if(std::string_view symbol_or_word);
  void expect(std::string_view symbol_or_word);
  Token expect(Token::Kind kind, const char* what);
  /// Throws hb::Error that names the line of now().
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail_expected(std::string_view what) const;
  const std::string& label() const { return label_; }

 private:
  Token read();
  bool begin_line(Token& token);
  void skip_blanks();
  Token read_token();
  Token number() const;
  Token quoted();
  Token symbol() const;
  [[noreturn]] void fail_at(int line, const std::string& message) const;

  std::string_view text_;
  std::string label_;
  size_t at_ = 0;
  int line_ = 1;
  int brackets_ = 0;
  bool line_begins_ = true, any_ = false;
  std::vector<size_t> indents_;
  size_t dedents_ = 0;
  Token now_, next_;
};

/// The characters that a quoted text stands for.
std::string unquoted(std::string_view quoted);

}  // namespace hb::bridge::script
