#include <algorithm>
#include <iterator>

#include <halfbridge/error.h>

#include "script/parser.h"

namespace hb::bridge::script {
namespace {

using Kind = Expr::Kind;
using TokenKind = Token::Kind;
constexpr int kMaxDepth = 200;

struct Operator {
  std::string_view text;
  int strength;
};
constexpr Operator kBinary[] = {{"|", 1}, {"^", 2}, {"&", 3}, {"<<", 4}, {">>", 4}, {"+", 5},
                                {"-", 5}, {"*", 6}, {"/", 6}, {"//", 6}, {"%", 6},  {"@", 6}};

}  // namespace

ExpressionParser::Level::Level(ExpressionParser& parser) : parser_(parser) {
  if (++parser_.level_ > kMaxDepth) {
    --parser_.level_;
    parser_.lexer_.fail("expected at most 200 levels of nesting, got more");
  }
}

ExprPtr ExpressionParser::make(Kind kind, std::string text) const {
  auto made = std::make_unique<Expr>();
  made->kind = kind;
  made->line = lexer_.now().line;
  made->text = std::move(text);
  return made;
}

void ExpressionParser::add(Expr& owner, ExprPtr part) const {
  if (part) owner.depth = std::max(owner.depth, part->depth + 1);
  if (owner.depth > kMaxDepth) lexer_.fail("expected at most 200 levels of nesting, got more");
  owner.parts.push_back(std::move(part));
}

ExprPtr ExpressionParser::expression() {
  const Level level(*this);
  ExprPtr value = disjunction();
  if (!lexer_.is("if")) return value;
  ExprPtr made = make(Kind::Ternary);
  lexer_.take();
  add(*made, disjunction());
  add(*made, std::move(value));
  lexer_.expect("else");
  add(*made, expression());
  return made;
}

bool ExpressionParser::ends_list() const {
  if (lexer_.now().kind == TokenKind::Newline || lexer_.now().kind == TokenKind::End) return true;
  for (const char* end : {")", "]", "}", "=", ":", "in"}) {
    if (lexer_.is(end)) return true;
  }
  return false;
}

ExprPtr ExpressionParser::expression_list() {
  const auto item = [&] {
    if (!lexer_.is("*")) return expression();
    ExprPtr made = make(Kind::Starred);
    lexer_.take();
    add(*made, expression());
    return made;
  };
  ExprPtr first = item();
  if (!lexer_.is(",")) return first;
  ExprPtr made = make(Kind::Tuple);
  add(*made, std::move(first));
  while (lexer_.take_if(",") && !ends_list()) add(*made, item());
  return made;
}

ExprPtr ExpressionParser::junction(Kind kind, std::string_view word, ExprPtr (ExpressionParser::*part)()) {
  ExprPtr first = (this->*part)();
  if (!lexer_.is(word)) return first;
  ExprPtr made = make(kind);
  add(*made, std::move(first));
  while (lexer_.take_if(word)) add(*made, (this->*part)());
  return made;
}
ExprPtr ExpressionParser::disjunction() { return junction(Kind::Or, "or", &ExpressionParser::conjunction); }
ExprPtr ExpressionParser::conjunction() { return junction(Kind::And, "and", &ExpressionParser::negation); }
ExprPtr ExpressionParser::negation() {
  if (!lexer_.is("not")) return comparison();
  const Level level(*this);
  ExprPtr made = make(Kind::Unary, "not");
  lexer_.take();
  add(*made, negation());
  return made;
}

std::string ExpressionParser::comparison_operator() {
  for (const char* symbol : {"<", ">", "<=", ">=", "==", "!=", "in"}) {
    if (lexer_.take_if(symbol)) return symbol;
  }
  if (lexer_.is("not") && lexer_.next().text == "in") return lexer_.take(), lexer_.take(), "not in";
  if (!lexer_.take_if("is")) return "";
  return lexer_.take_if("not") ? "is not" : "is";
}

ExprPtr ExpressionParser::comparison() {
  ExprPtr first = binary(1);
  std::string symbol = comparison_operator();
  if (symbol.empty()) return first;
  ExprPtr made = make(Kind::Compare);
  add(*made, std::move(first));
  for (; !symbol.empty(); symbol = comparison_operator()) {
    made->names.push_back(std::move(symbol));
    add(*made, binary(1));
  }
  return made;
}

ExprPtr ExpressionParser::binary(int least) {
  ExprPtr left = unary();
  for (;;) {
    const auto known = std::find_if(std::begin(kBinary), std::end(kBinary),
                                    [&](const Operator& candidate) { return lexer_.is(candidate.text); });
    if (known == std::end(kBinary) || known->strength < least) return left;
    ExprPtr made = make(Kind::Binary, std::string(known->text));
    lexer_.take();
    add(*made, std::move(left));
    add(*made, binary(known->strength + 1));
    left = std::move(made);
  }
}

ExprPtr ExpressionParser::unary() {
  if (!lexer_.is("-") && !lexer_.is("+") && !lexer_.is("~")) return power();
  const Level level(*this);
  ExprPtr made = make(Kind::Unary, std::string(lexer_.now().text));
  lexer_.take();
  add(*made, unary());
  return made;
}
ExprPtr ExpressionParser::power() {
  ExprPtr base = postfix();
  if (!lexer_.is("**")) return base;
  const Level level(*this);
  ExprPtr made = make(Kind::Binary, "**");
  lexer_.take();
  add(*made, std::move(base));
  add(*made, unary());
  return made;
}

ExprPtr ExpressionParser::atom() {
  const Token& token = lexer_.now();
  if (token.kind == TokenKind::Number) {
    ExprPtr made = make(Kind::Number, std::string(token.text));
    lexer_.take();
    return made;
  }
  if (token.kind == TokenKind::Text) {
    ExprPtr made = make(Kind::Text);
    while (lexer_.now().kind == TokenKind::Text) made->text += unquoted(lexer_.take().text);
    return made;
  }
  if (token.kind == TokenKind::Name) {
    constexpr std::string_view kWords[] = {"if",    "else",   "for",   "in",     "is",    "and",  "or",
                                           "not",   "def",    "class", "return", "while", "elif", "lambda",
                                           "yield", "import", "pass",  "raise",  "assert"};
    if (std::find(std::begin(kWords), std::end(kWords), token.text) != std::end(kWords))
      lexer_.fail_expected("a value");
    const Kind kind = token.text == "None"    ? Kind::None
                      : token.text == "True"  ? Kind::True
                      : token.text == "False" ? Kind::False
                                              : Kind::Name;
    ExprPtr made = make(kind, std::string(token.text));
    lexer_.take();
    return made;
  }
  if (lexer_.is("...")) {
    ExprPtr made = make(Kind::Ellipsis);
    lexer_.take();
    return made;
  }
  if (lexer_.is("(")) return parenthesis();
  if (lexer_.is("[")) return list();
  if (lexer_.is("{")) return dict();
  lexer_.fail_expected("a value");
}

ExprPtr ExpressionParser::parenthesis() {
  const Level level(*this);
  ExprPtr empty = make(Kind::Tuple);
  lexer_.expect("(");
  if (lexer_.take_if(")")) return empty;
  ExprPtr inside = expression_list();
  lexer_.expect(")");
  return inside;
}

void ExpressionParser::comprehension(Expr& owner) {
  lexer_.expect("for");
  ExprPtr target = make(Kind::Tuple);
  ExprPtr first = postfix();
  if (lexer_.is(",")) {
    add(*target, std::move(first));
    while (lexer_.take_if(",") && !lexer_.is("in")) add(*target, postfix());
    first = std::move(target);
  }
  add(owner, std::move(first));
  lexer_.expect("in");
  add(owner, disjunction());
  add(owner, lexer_.take_if("if") ? disjunction() : nullptr);
  if (lexer_.is("for") || lexer_.is("if")) lexer_.fail("expected a comprehension of one loop and one condition");
}

ExprPtr ExpressionParser::list() {
  const Level level(*this);
  ExprPtr made = make(Kind::List);
  lexer_.expect("[");
  while (!lexer_.take_if("]")) {
    add(*made, expression());
    if (lexer_.is("for") && made->parts.size() == 1) {
      made->kind = Kind::Comprehension;
      comprehension(*made);
      lexer_.expect("]");
      break;
    }
    if (lexer_.take_if(",")) continue;
    lexer_.expect("]");
    break;
  }
  return made;
}

ExprPtr ExpressionParser::dict() {
  const Level level(*this);
  ExprPtr made = make(Kind::Dict);
  lexer_.expect("{");
  while (!lexer_.take_if("}")) {
    add(*made, expression());
    lexer_.expect(":");
    ExprPtr value = expression();
    if (lexer_.is("for") && made->parts.size() == 1) {
      made->kind = Kind::DictComprehension;
      comprehension(*made);
      add(*made, std::move(value));
      lexer_.expect("}");
      break;
    }
    add(*made, std::move(value));
    if (lexer_.take_if(",")) continue;
    lexer_.expect("}");
    break;
  }
  return made;
}

}  // namespace hb::bridge::script
