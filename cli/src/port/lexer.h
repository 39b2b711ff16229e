#pragma once
// Tokens of C++ source without a compiler: comments and #if 0 blocks are gone, literals are one token each.

#include <string_view>
#include <vector>

namespace hb::cli::port {

struct Token {
  enum Kind { identifier, number, literal, punctuation, include, define } kind;
  std::string_view text;  // of an include: the path between the brackets or quotes; of a define: the macro's name
  int line;
};

/// Never fails: what is not C++ gives tokens that mean nothing. `text` must outlive the tokens.
std::vector<Token> lex(std::string_view text);

}  // namespace hb::cli::port
