#include "brackets.h"

#include <algorithm>
#include <array>

namespace hb::cli::port {

namespace {
// Template arguments are short; what is longer is a comparison, or meant to keep us busy.
constexpr size_t kMostTemplateTokens = 200;

bool may_be_template_argument(const Token& token) {
  return token.kind == Token::identifier || token.kind == Token::number || token.text == "::" || token.text == "," ||
         token.text == "*" || token.text == "&" || token.text == "(" || token.text == ")" || token.text == "[" ||
         token.text == "]" || token.text == ".";
}
}  // namespace

std::vector<size_t> partners_of(const std::vector<Token>& tokens) {
  std::vector<size_t> partner(tokens.size()), open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    partner[i] = i;
    if (tokens[i].kind != Token::punctuation) continue;
    const char c = tokens[i].text[0];
    if (c == '(' || c == '[' || c == '{') open.push_back(i);
    if (c != ')' && c != ']' && c != '}') continue;
    const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (open.empty() || tokens[open.back()].text[0] != opening) continue;
    partner[i] = open.back();
    partner[open.back()] = i;
    open.pop_back();
  }
  return partner;
}

std::string qualified_name(const std::vector<Token>& tokens, size_t& at) {
  std::string name;
  if (is(tokens, at, "::")) ++at;
  while (is_name(tokens, at)) {
    name += tokens[at++].text;
    if (!is(tokens, at, "::") || !is_name(tokens, at + 1)) break;
    name += "::";
    ++at;
  }
  return name;
}

size_t past_template_arguments(const std::vector<Token>& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size() && i < open + kMostTemplateTokens; ++i) {
    if (is(tokens, i, "<"))
      ++depth;
    else if (is(tokens, i, ">"))
      --depth;
    else if (!may_be_template_argument(tokens[i]))
      return open;
    if (depth == 0) return i + 1;
  }
  return open;
}

size_t template_arguments_before(const std::vector<Token>& tokens, size_t close) {
  int depth = 0;
  for (size_t i = close; i + kMostTemplateTokens > close; --i) {
    if (is(tokens, i, ">"))
      ++depth;
    else if (is(tokens, i, "<"))
      --depth;
    else if (!may_be_template_argument(tokens[i]))
      return close;
    if (depth == 0) return i;
    if (i == 0) break;
  }
  return close;
}

bool is_statement_word(std::string_view word) {
  static constexpr std::array kWords = {
      "return",  "new",       "delete",   "else",      "case",     "throw",   "goto",      "using",    "not",
      "and",     "or",        "sizeof",   "co_return", "co_await", "do",      "while",     "if",       "switch",
      "for",     "operator",  "typename", "class",     "struct",   "enum",    "namespace", "template", "public",
      "private", "protected", "typedef",  "union",     "friend",   "co_yield"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

}  // namespace hb::cli::port
