#include "lexer.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace hb::cli::port {

namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (skip_space(), at_ < text_.size()) next();
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool starts_with(std::string_view s) const { return text_.substr(at_, s.size()) == s; }
  void advance() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }
  void advance_to(size_t end) {
    end = std::min(end, text_.size());
    line_ += static_cast<int>(std::count(text_.begin() + at_, text_.begin() + end, '\n'));
    at_ = end;
  }
  void skip_comment() { advance_to(peek(1) == '/' ? end_of_line(at_) : after(text_.find("*/", at_ + 2), 2)); }
  size_t after(size_t found, size_t length) const { return found == text_.npos ? text_.size() : found + length; }
  /// The end of the line at `from`, lines that end in a backslash joined to the next.
  size_t end_of_line(size_t from) const {
    while (true) {
      size_t end = text_.find('\n', from);
      if (end == text_.npos) return text_.size();
      size_t last = end > 0 && text_[end - 1] == '\r' ? end - 1 : end;
      if (last == 0 || text_[last - 1] != '\\') return end;
      from = end + 1;
    }
  }
  void skip_space() {
    while (at_ < text_.size()) {
      if (starts_with("//") || starts_with("/*"))
        skip_comment();
      else if (peek() == '\\' && (peek(1) == '\n' || peek(1) == '\r'))
        at_ += 1;
      else if (std::isspace(static_cast<unsigned char>(peek())))
        advance();
      else
        return;
    }
  }
  void add(Token::Kind kind, size_t begin, size_t end, int line) {
    tokens_.push_back({kind, text_.substr(begin, end - begin), line});
  }

  void next() {
    const bool line_begins = only_space_before(at_);
    if (peek() == '#' && line_begins) return directive();
    if (starts_name(peek())) return name();
    if (std::isdigit(static_cast<unsigned char>(peek()))) return number();
    if (peek() == '"' || peek() == '\'') return quoted();
    const size_t length = starts_with("::") || starts_with("->") ? 2 : 1;
    add(Token::punctuation, at_, at_ + length, line_);
    at_ += length;
  }
  bool only_space_before(size_t at) const {
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
    return at == 0 || text_[at - 1] == '\n';
  }
  std::string_view word_at(size_t& at) const {
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
    const size_t begin = at;
    while (at < text_.size() && in_name(text_[at])) ++at;
    return text_.substr(begin, at - begin);
  }

  /// An #include and the name of a #define become tokens; what a macro stands for is read like any other source; the
  /// rest of the directives is left out.
  void directive() {
    size_t at = at_ + 1;
    const std::string_view word = word_at(at);
    if (word == "define") {
      const std::string_view macro = word_at(at);
      tokens_.push_back({Token::define, macro, line_});
      at_ = at;
    } else if (word == "include") {
      while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
      const char close = at < text_.size() && text_[at] == '<' ? '>' : '"';
      const size_t line_end = end_of_line(at_);
      const size_t end = text_.substr(0, line_end).find(close, at + 1);
      if (end != text_.npos) add(Token::include, at + 1, end, line_);
      advance_to(line_end);
    } else if (size_t zero = at; word == "if" && word_at(zero) == "0") {
      skip_block();
    } else {
      advance_to(end_of_line(at_));
    }
  }
  /// From #if 0 to its #else, #elif or #endif.
  void skip_block() {
    int depth = 0;
    while (at_ < text_.size()) {
      size_t at = at_;
      while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
      if (at < text_.size() && text_[at] == '#') {
        ++at;
        const std::string_view word = word_at(at);
        if (word == "if" || word == "ifdef" || word == "ifndef") ++depth;
        if (word == "endif") --depth;
        if (depth == 0 || (depth == 1 && (word == "else" || word == "elif"))) return advance_to(end_of_line(at_));
      }
      advance_to(after(text_.find('\n', at_), 1));
    }
  }

  void name() {
    size_t end = at_;
    while (end < text_.size() && in_name(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    const bool prefix = word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
    if (prefix && end < text_.size() && text_[end] == '"') return raw_string(end);
    add(Token::identifier, at_, end, line_);
    at_ = end;
  }
  void raw_string(size_t quote) {
    constexpr size_t kMostDelimiter = 16;
    const size_t open = text_.substr(0, quote + kMostDelimiter + 2).find('(', quote);
    if (open == text_.npos) return advance_to(quote + 1);
    const std::string close = ")" + std::string(text_.substr(quote + 1, open - quote - 1)) + "\"";
    const size_t end = after(text_.find(close, open), close.size());
    add(Token::literal, at_, end, line_);
    advance_to(end);
  }
  void number() {
    size_t end = at_;
    while (end < text_.size() &&
           (in_name(text_[end]) || text_[end] == '.' || (text_[end] == '\'' && in_name(text_[end - 1])) ||
            ((text_[end] == '+' || text_[end] == '-') && std::tolower(text_[end - 1]) == 'e' &&
             !(text_[at_] == '0' && std::tolower(text_[at_ + 1]) == 'x'))))
      ++end;
    add(Token::number, at_, end, line_);
    at_ = end;
  }
  void quoted() {
    const char quote = peek();
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    end = std::min(end + (end < text_.size() && text_[end] == quote), text_.size());
    add(Token::literal, at_, end, line_);
    advance_to(end);
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view text) { return Lexer(text).run(); }

}  // namespace hb::cli::port
