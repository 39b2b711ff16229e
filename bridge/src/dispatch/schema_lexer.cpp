#include "dispatch/schema_lexer.h"

#include <cctype>

#include <halfbridge/error.h>

namespace hb::bridge {
namespace {
constexpr size_t kLongest = 1 << 16;

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }
}  // namespace

SchemaLexer::SchemaLexer(std::string_view text) : text_(text) {
  HB_CHECK(text.size() <= kLongest, "[schema] expected at most ", kLongest, " characters, got ", text.size());
  advance();
}

SchemaLexer::Token SchemaLexer::take() {
  const Token token = now_;
  advance();
  return token;
}
bool SchemaLexer::next_if(std::string_view symbol) {
  if (!is(symbol)) return false;
  advance();
  return true;
}
void SchemaLexer::expect(std::string_view symbol) {
  if (!next_if(symbol)) fail_expected(symbol);
}
SchemaLexer::Token SchemaLexer::expect_word() {
  if (now_.kind != Kind::Word) fail_expected("ident");
  return take();
}

void SchemaLexer::fail_expected(std::string_view what) const {
  constexpr const char* kNames[] = {"eof", "ident", "number", "string literal"};
  const std::string found = now_.kind == Kind::Symbol ? std::string(now_.text) : kNames[static_cast<int>(now_.kind)];
  fail("expected " + std::string(what) + " but found '" + found + "'", now_.place);
}

void SchemaLexer::fail(const std::string& message, size_t place) const {
  // The line around the place: a hostile text must not fill the screen.
  const size_t from = place > 100 ? place - 100 : 0;
  detail::fail<Error>(message, " here:\n", text_.substr(from, 200), "\n", std::string(place - from, ' '),
                      "~ <--- HERE (position ", place, ")\n");
}

void SchemaLexer::advance() {
  bool begins_line = false;
  for (; at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])); ++at_)
    begins_line |= text_[at_] == '\n';
  now_ = Token{Kind::End, {}, at_};
  if (at_ == text_.size()) return;
  const char c = text_[at_];
  if (begins_word(c)) {
    size_t end = at_;
    while (end < text_.size() && (begins_word(text_[end]) || digit(text_[end]))) ++end;
    now_ = Token{Kind::Word, text_.substr(at_, end - at_), at_};
  } else if (digit(c) || (c == '.' && at_ + 1 < text_.size() && digit(text_[at_ + 1]))) {
    now_ = number();
  } else if (c == '"' || c == '\'') {
    now_ = quoted();
  } else {
    now_ = symbol();
  }
  at_ += now_.text.size();
  now_.begins_line = begins_line;
}

SchemaLexer::Token SchemaLexer::number() const {
  size_t end = at_;
  const auto digits = [&] {
    while (end < text_.size() && digit(text_[end])) ++end;
  };
  digits();
  if (end < text_.size() && text_[end] == '.') ++end, digits();
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    ++end;
    if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
    digits();
  }
  return {Kind::Number, text_.substr(at_, end - at_), at_};
}

SchemaLexer::Token SchemaLexer::quoted() const {
  for (size_t end = at_ + 1; end < text_.size(); ++end) {
    if (text_[end] == '\\') {
      ++end;
    } else if (text_[end] == text_[at_]) {
      return {Kind::Text, text_.substr(at_, end + 1 - at_), at_};
    }
  }
  fail("expected a valid token but found '" + std::string(1, text_[at_]) + "'", at_);
}

SchemaLexer::Token SchemaLexer::symbol() const {
  for (std::string_view known : {"...", "->", "::"}) {
    if (text_.substr(at_, known.size()) == known) return {Kind::Symbol, text_.substr(at_, known.size()), at_};
  }
  return {Kind::Symbol, text_.substr(at_, 1), at_};
}

}  // namespace hb::bridge
