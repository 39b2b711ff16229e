#pragma once
// The tokens of the schema language, and errors that say where and what.

#include <cstddef>
#include <string>
#include <string_view>

namespace hb::bridge {

class SchemaLexer {
 public:
  explicit SchemaLexer(std::string_view text);

  enum class Kind { End, Word, Number, Text, Symbol };
  struct Token {
    Kind kind = Kind::End;
    std::string_view text;  // with the quotes of a Text
    size_t place = 0;
    bool begins_line = false;
  };
  const Token& now() const { return now_; }
  bool is(std::string_view symbol) const { return now_.kind == Kind::Symbol && now_.text == symbol; }
  bool is_word(std::string_view word) const { return now_.kind == Kind::Word && now_.text == word; }
  Token take();
  /// Takes the symbol if it comes next.
  bool next_if(std::string_view symbol);
  void expect(std::string_view symbol);
  Token expect_word();
  /// "expected ... but found '...' here:", with the place.
  [[noreturn]] void fail_expected(std::string_view what) const;
  [[noreturn]] void fail(const std::string& message, size_t place) const;

 private:
  void advance();
  Token symbol() const;
  Token quoted() const;
  Token number() const;
  std::string_view text_;
  size_t at_ = 0;
  Token now_;
};

}  // namespace hb::bridge
