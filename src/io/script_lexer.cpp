#include "io/script_lexer.h"

namespace hb::io {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

}  // namespace

void ScriptLine::skip_spaces() {
  while (!at_end() && text_[at_] == ' ') ++at_;
}

bool ScriptLine::take(std::string_view expected) {
  if (text_.substr(at_, expected.size()) != expected) return false;
  at_ += expected.size();
  return true;
}

std::string_view ScriptLine::take_name() {
  const size_t start = at_;
  while (!at_end() && is_name_character(text_[at_])) ++at_;
  return text_.substr(start, at_ - start);
}

char ScriptLine::take_escape() {
  constexpr std::string_view kLetters = "abfnrtv", kMeanings = "\a\b\f\n\r\t\v";
  const char c = text_[at_++];
  if (const size_t known = kLetters.find(c); known != std::string_view::npos) return kMeanings[known];
  if (!is_octal(c)) return c;  // a quote or a backslash
  int value = c - '0';
  for (int digits = 1; digits < 3 && !at_end() && is_octal(text_[at_]); ++digits)
    value = value * 8 + (text_[at_++] - '0');
  return static_cast<char>(value);
}

bool ScriptLine::take_string(std::string& value) {
  const size_t start = at_;
  if (!take("\"")) return false;
  value.clear();
  while (!at_end()) {
    const char c = text_[at_++];
    if (c == '"') return true;
    if (c != '\\') {
      value += c;
    } else if (!at_end()) {
      value += take_escape();
    }
  }
  at_ = start;
  return false;
}

}  // namespace hb::io
