#pragma once
// Walking over tokens.

#include <string>
#include <vector>

#include "lexer.h"

namespace hb::cli::port {

inline bool is(const std::vector<Token>& tokens, size_t at, std::string_view text) {
  return at < tokens.size() && tokens[at].text == text && tokens[at].kind != Token::literal;
}
inline bool is_name(const std::vector<Token>& tokens, size_t at) {
  return at < tokens.size() && tokens[at].kind == Token::identifier;
}

/// Where each bracket of (), [] and {} has its partner; a token without one is its own.
std::vector<size_t> partners_of(const std::vector<Token>& tokens);

/// The qualified name that begins at `at` (an identifier or ::); `at` is moved past it.
std::string qualified_name(const std::vector<Token>& tokens, size_t& at);

/// The token past the `>` of the template arguments that begin at `open`; `open` where that is a mere comparison.
size_t past_template_arguments(const std::vector<Token>& tokens, size_t open);
/// The `<` of the template arguments that end in the `>` at `close`, or `close`.
size_t template_arguments_before(const std::vector<Token>& tokens, size_t close);

/// Words that stand before an expression and are not a type.
bool is_statement_word(std::string_view word);

}  // namespace hb::cli::port
