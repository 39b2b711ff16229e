// What follows a value: calls, attributes and subscripts.
#include "script/parser.h"

namespace hb::bridge::script {

using Kind = Expr::Kind;
using TokenKind = Token::Kind;

ExprPtr ExpressionParser::postfix() {
  ExprPtr value = atom();
  for (;;) {
    if (lexer_.is(".")) {
      ExprPtr made = make(Kind::Attribute);
      lexer_.take();
      made->text = std::string(lexer_.expect(TokenKind::Name, "a name").text);
      add(*made, std::move(value));
      value = std::move(made);
    } else if (lexer_.is("(")) {
      value = call(std::move(value));
    } else if (lexer_.is("[")) {
      value = subscript(std::move(value));
    } else {
      return value;
    }
  }
}

ExprPtr ExpressionParser::call(ExprPtr callee) {
  ExprPtr made = make(Kind::Call);
  add(*made, std::move(callee));
  lexer_.expect("(");
  while (!lexer_.take_if(")")) {
    if (lexer_.now().kind == TokenKind::Name && lexer_.next().text == "=" && lexer_.next().kind == TokenKind::Symbol) {
      made->names.emplace_back(lexer_.take().text);
      lexer_.take();
      add(*made, expression());
    } else {
      if (!made->names.empty()) lexer_.fail_expected("an argument by name behind those by name");
      ExprPtr starred = lexer_.is("*") ? make(Kind::Starred) : nullptr;
      if (starred) lexer_.take();
      ExprPtr value = expression();
      if (lexer_.is("for")) {  // f(x for x in y)
        ExprPtr list = make(Kind::Comprehension);
        add(*list, std::move(value));
        comprehension(*list);
        value = std::move(list);
      }
      if (starred) add(*starred, std::move(value));
      add(*made, starred ? std::move(starred) : std::move(value));
    }
    if (lexer_.take_if(",")) continue;
    lexer_.expect(")");
    break;
  }
  return made;
}

ExprPtr ExpressionParser::subscript(ExprPtr value) {
  ExprPtr made = make(Kind::Subscript);
  lexer_.expect("[");
  add(*made, std::move(value));
  ExprPtr first = subscript_item();
  if (lexer_.is(",")) {
    ExprPtr tuple = make(Kind::Tuple);
    add(*tuple, std::move(first));
    while (lexer_.take_if(",") && !lexer_.is("]")) add(*tuple, subscript_item());
    first = std::move(tuple);
  }
  add(*made, std::move(first));
  lexer_.expect("]");
  return made;
}

ExprPtr ExpressionParser::subscript_item() {
  const auto bound = [&]() -> ExprPtr {
    return lexer_.is(":") || lexer_.is("]") || lexer_.is(",") ? nullptr : expression();
  };
  ExprPtr start = bound();
  if (!lexer_.is(":")) {
    if (!start) lexer_.fail_expected("an index");
    return start;
  }
  ExprPtr made = make(Kind::Slice);
  lexer_.take();
  add(*made, std::move(start));
  add(*made, bound());
  add(*made, lexer_.take_if(":") ? bound() : nullptr);
  return made;
}

}  // namespace hb::bridge::script
