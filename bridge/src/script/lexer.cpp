#include "script/lexer.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include <halfbridge/error.h>

namespace hb::bridge::script {
namespace {

using Kind = Token::Kind;
constexpr size_t kMaxIndents = 100;

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool in_name(char c) { return begins_name(c) || digit(c); }
bool octal(char c) { return c >= '0' && c <= '7'; }

}  // namespace

Lexer::Lexer(std::string_view text, std::string label) : text_(text), label_(std::move(label)) {
  next_ = read();
  take();
}

bool Lexer::is(std::string_view wanted) const {
  return (now_.kind == Kind::Symbol || now_.kind == Kind::Name) && now_.text == wanted;
}
Token Lexer::take() {
  const Token taken = now_;
  now_ = next_;
  next_ = read();
  return taken;
}
bool Lexer::take_if(std::string_view wanted) {
  if (!is(wanted)) return false;
  take();
  return true;
}
void Lexer::expect(std::string_view wanted) {
  if (!take_if(wanted)) fail_expected(wanted);
}
Token Lexer::expect(Kind kind, const char* what) {
  if (now_.kind != kind) fail_expected(what);
  return take();
}

void Lexer::fail_at(int line, const std::string& message) const {
  hb::detail::fail<Error>("[TorchScript] ", label_, ":", line, ": ", message);
}
void Lexer::fail(const std::string& message) const { fail_at(now_.line, message); }
void Lexer::fail_expected(std::string_view what) const {
  std::string found(now_.text.substr(0, 40));
  if (now_.kind == Kind::Newline) found = "the end of the line";
  if (now_.kind == Kind::Indent || now_.kind == Kind::Dedent) found = "another indentation";
  if (now_.kind == Kind::End) found = "the end of the text";
  fail("expected " + std::string(what) + ", got " + found);
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
      at_ += 2;
      ++line_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || (c == '\n' && brackets_ > 0)) {
      line_ += c == '\n';
      ++at_;
    } else {
      return;
    }
  }
}

// Looks at the indentation of a line that holds something. Whether it gives a token.
bool Lexer::begin_line(Token& token) {
  size_t columns = 0;
  for (;; ++at_) {
    columns = 0;
    for (; at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'); ++at_)
      columns = text_[at_] == '\t' ? (columns / 8 + 1) * 8 : columns + 1;
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != '\n') break;
    ++line_;
  }
  line_begins_ = false;
  if (at_ >= text_.size()) return false;
  if (indents_.empty()) indents_.push_back(columns);  // a text may stand further in as a whole
  if (columns > indents_.back()) {
    if (indents_.size() >= kMaxIndents) fail_at(line_, "expected at most 100 levels of indentation");
    indents_.push_back(columns);
    token = {Kind::Indent, {}, line_};
    return true;
  }
  while (columns < indents_.back()) {
    if (indents_.size() == 1) fail_at(line_, "expected no line to stand further out than the first one");
    indents_.pop_back();
    ++dedents_;
  }
  if (columns != indents_.back()) fail_at(line_, "expected the indentation of a line above");
  return false;
}

Token Lexer::read() {
  Token token;
  if (line_begins_ && begin_line(token)) return token;
  if (dedents_ > 0) return --dedents_, Token{Kind::Dedent, {}, line_};
  skip_blanks();
  if (at_ >= text_.size()) {
    if (std::exchange(any_, false)) return {Kind::Newline, {}, line_};
    if (indents_.size() > 1) return indents_.pop_back(), Token{Kind::Dedent, {}, line_};
    return {Kind::End, {}, line_};
  }
  if (text_[at_] == '\n') {
    token = {Kind::Newline, {}, line_++};
    ++at_;
    line_begins_ = true;
    any_ = false;
    return token;
  }
  any_ = true;
  return read_token();
}

Token Lexer::read_token() {
  const char c = text_[at_];
  Token token;
  if (begins_name(c)) {
    size_t end = at_;
    while (end < text_.size() && in_name(text_[end])) ++end;
    token = {Kind::Name, text_.substr(at_, end - at_), line_};
  } else if (digit(c) || (c == '.' && at_ + 1 < text_.size() && digit(text_[at_ + 1]))) {
    token = number();
  } else if (c == '"' || c == '\'') {
    return quoted();
  } else {
    token = symbol();
    const char first = token.text[0];
    if (first == '(' || first == '[' || first == '{') ++brackets_;
    if ((first == ')' || first == ']' || first == '}') && brackets_ > 0) --brackets_;
  }
  at_ += token.text.size();
  return token;
}

Token Lexer::number() const {
  size_t end = at_;
  const auto digits = [&] {
    while (end < text_.size() && digit(text_[end])) ++end;
  };
  if (text_[end] == '0' && end + 1 < text_.size() && (text_[end + 1] == 'x' || text_[end + 1] == 'X')) {
    end += 2;
    while (end < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[end]))) ++end;
    return {Kind::Number, text_.substr(at_, end - at_), line_};
  }
  digits();
  if (end < text_.size() && text_[end] == '.') ++end, digits();
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    size_t power = end + 1;
    if (power < text_.size() && (text_[power] == '+' || text_[power] == '-')) ++power;
    if (power < text_.size() && digit(text_[power])) end = power, digits();
  }
  if (end < text_.size() && text_[end] == 'j') ++end;
  return {Kind::Number, text_.substr(at_, end - at_), line_};
}

Token Lexer::quoted() {
  const char quote = text_[at_];
  const std::string three(3, quote);
  const bool triple = text_.substr(at_, 3) == three;
  const int begin = line_;
  for (size_t end = at_ + (triple ? 3 : 1); end < text_.size(); ++end) {
    if (text_[end] == '\\') {
      ++end;
      continue;
    }
    if (text_[end] == '\n') {
      if (!triple) break;
      ++line_;
    }
    if (triple ? text_.substr(end, 3) != three : text_[end] != quote) continue;
    const Token token{Kind::Text, text_.substr(at_, end + (triple ? 3 : 1) - at_), begin};
    at_ += token.text.size();
    return token;
  }
  fail_at(begin, "expected the end of a text in quotes");
}

Token Lexer::symbol() const {
  constexpr std::string_view kLong[] = {"...", "**=", "//=", "<<=", ">>=", "->", "==", "!=", "<=", ">=", "+=", "-=",
                                        "*=",  "/=",  "%=",  "@=",  "&=",  "|=", "^=", "**", "//", "<<", ">>"};
  for (std::string_view known : kLong) {
    if (text_.substr(at_, known.size()) == known) return {Kind::Symbol, text_.substr(at_, known.size()), line_};
  }
  constexpr std::string_view kShort = "()[]{},:;.=+-*/%@&|^~<>";
  if (kShort.find(text_[at_]) == std::string_view::npos) fail_at(line_, "found a character that has no meaning");
  return {Kind::Symbol, text_.substr(at_, 1), line_};
}

std::string unquoted(std::string_view quoted) {
  const bool triple = quoted.size() >= 6 && quoted[0] == quoted[1] && quoted[1] == quoted[2];
  const size_t mark = triple ? 3 : 1;
  const std::string_view inside = quoted.substr(mark, quoted.size() - 2 * mark);
  std::string out;
  for (size_t i = 0; i < inside.size(); ++i) {
    char c = inside[i];
    if (c != '\\' || i + 1 >= inside.size()) {
      out += c;
      continue;
    }
    c = inside[++i];
    constexpr std::string_view kNames = "ntrabfv", kMeant = "\n\t\r\a\b\f\v";
    const size_t known = kNames.find(c);
    if (known != std::string_view::npos) {
      out += kMeant[known];
    } else if (octal(c)) {
      unsigned value = 0;
      for (size_t end = std::min(i + 3, inside.size()); i < end && octal(inside[i]); ++i)
        value = value * 8 + static_cast<unsigned>(inside[i] - '0');
      --i;
      out += static_cast<char>(value);
    } else if (c == 'x' && i + 2 < inside.size()) {
      out += static_cast<char>(std::strtol(std::string(inside.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    } else if (c != '\n') {
      if (c != '\\' && c != '\'' && c != '"') out += '\\';
      out += c;
    }
  }
  return out;
}

}  // namespace hb::bridge::script
