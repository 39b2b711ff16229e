#include <algorithm>

#include <halfbridge/error.h>

#include "script/parser.h"

namespace hb::bridge::script {
namespace {

using TokenKind = Token::Kind;
constexpr size_t kMaxText = size_t{1} << 26;

bool is_augmented(const Token& token) {
  constexpr std::string_view kAll[] = {
      "+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "&=", "|=", "^=", "<<=", ">>="};
  return token.kind == TokenKind::Symbol && std::find(std::begin(kAll), std::end(kAll), token.text) != std::end(kAll);
}

}  // namespace

FileSyntax SourceParser::run() {
  FileSyntax file;
  while (lexer_.now().kind != TokenKind::End) {
    if (lexer_.now().kind == TokenKind::Newline) {
      lexer_.take();
    } else if (lexer_.is("class")) {
      file.classes.push_back(class_());
    } else if (lexer_.is("def")) {
      file.functions.push_back(function());
    } else if (lexer_.is("import") || lexer_.is("from") || lexer_.is("op_version_set")) {
      while (lexer_.now().kind != TokenKind::Newline) lexer_.take();
    } else {
      lexer_.fail_expected("a function or a class");
    }
  }
  return file;
}

// --- functions

std::shared_ptr<FunctionSyntax> SourceParser::function() {
  const Level level(*this);
  auto made = std::make_shared<FunctionSyntax>();
  made->line = lexer_.now().line;
  lexer_.expect("def");
  made->name = std::string(lexer_.expect(TokenKind::Name, "the name of a function").text);
  lexer_.expect("(");
  bool by_name = false;
  while (!lexer_.take_if(")")) {
    if (lexer_.take_if("*")) {
      by_name = true;
    } else {
      made->parameters.push_back(parameter(by_name));
    }
    if (lexer_.take_if(",")) continue;
    lexer_.expect(")");
    break;
  }
  if (lexer_.take_if("->")) made->result = type();
  made->body = block();
  return made;
}

Parameter SourceParser::parameter(bool by_name) {
  Parameter made;
  made.by_name = by_name;
  made.name = std::string(lexer_.expect(TokenKind::Name, "the name of a parameter").text);
  if (lexer_.take_if(":")) made.type = type();
  if (lexer_.take_if("=")) made.value = expression();
  return made;
}

// --- classes

std::shared_ptr<ClassSyntax> SourceParser::class_() {
  auto made = std::make_shared<ClassSyntax>();
  made->line = lexer_.now().line;
  lexer_.expect("class");
  made->name = std::string(lexer_.expect(TokenKind::Name, "the name of a class").text);
  if (lexer_.take_if("(")) {
    const std::string base = lexer_.is(")") ? "" : type();
    lexer_.expect(")");
    made->kind = base == "Module"       ? ClassSyntax::Kind::Module
                 : base == "NamedTuple" ? ClassSyntax::Kind::NamedTuple
                 : base == "Interface"  ? ClassSyntax::Kind::Interface
                 : base == "Enum"       ? ClassSyntax::Kind::Enum
                                        : ClassSyntax::Kind::Object;
  }
  lexer_.expect(":");
  lexer_.expect(TokenKind::Newline, "the end of the line");
  if (lexer_.now().kind != TokenKind::Indent) return made;
  lexer_.take();
  while (lexer_.now().kind != TokenKind::Dedent && lexer_.now().kind != TokenKind::End) class_line(*made);
  if (lexer_.now().kind == TokenKind::Dedent) lexer_.take();
  return made;
}

void SourceParser::class_line(ClassSyntax& made) {
  if (lexer_.now().kind == TokenKind::Newline) {
    lexer_.take();
    return;
  }
  if (lexer_.is("def")) {
    made.methods.push_back(function());
    return;
  }
  if (!lexer_.take_if("pass") && lexer_.now().kind != TokenKind::Text) {
    const std::string name(lexer_.expect(TokenKind::Name, "the name of an attribute").text);
    if (lexer_.is("[") || name.substr(0, 2) == "__") {
      hidden_line(made, name);
    } else {
      std::string declared = lexer_.take_if(":") ? type() : "";
      if (lexer_.take_if("=")) made.constants.emplace_back(name, expression());
      if (declared.substr(0, 6) != "Final[" && !declared.empty()) made.fields.emplace_back(name, std::move(declared));
    }
  }
  if (lexer_.now().kind == TokenKind::Text) lexer_.take();
  lexer_.expect(TokenKind::Newline, "the end of the line");
}

// __parameters__ = [...], __annotations__["0"] = T, __forward_hooks__ = [...]
void SourceParser::hidden_line(ClassSyntax& made, const std::string& name) {
  if (lexer_.take_if("[")) {
    const Token key = lexer_.expect(TokenKind::Text, "a name in quotes");
    lexer_.expect("]");
    lexer_.expect("=");
    made.fields.emplace_back(unquoted(key.text), type());
    return;
  }
  lexer_.expect("=");
  const ExprPtr value = expression();
  if (name == "__forward_hooks__" || name == "__forward_pre_hooks__") made.has_hooks |= !value->parts.empty();
}

// --- statements

Block SourceParser::block() {
  const Level level(*this);
  lexer_.expect(":");
  Block made;
  if (lexer_.now().kind != TokenKind::Newline) {
    made.push_back(statement());
    return made;
  }
  lexer_.take();
  lexer_.expect(TokenKind::Indent, "an indented line");
  while (lexer_.now().kind != TokenKind::Dedent && lexer_.now().kind != TokenKind::End) {
    if (lexer_.now().kind == TokenKind::Newline) {
      lexer_.take();
    } else {
      made.push_back(statement());
    }
  }
  if (lexer_.now().kind == TokenKind::Dedent) lexer_.take();
  return made;
}

Stmt SourceParser::statement() {
  Stmt made;
  made.line = lexer_.now().line;
  if (lexer_.is("if")) {
    conditional(made);
  } else if (lexer_.is("while") || lexer_.is("for") || lexer_.is("with")) {
    loop(made);
  } else if (lexer_.is("def")) {
    made.kind = Stmt::Kind::Define;
    made.function = function();
  } else {
    simple(made);
    if (!lexer_.take_if(";") || lexer_.now().kind == TokenKind::Newline)
      lexer_.expect(TokenKind::Newline, "the end of the line");
  }
  return made;
}

void SourceParser::conditional(Stmt& made) {
  const Level level(*this);
  lexer_.take();
  made.kind = Stmt::Kind::If;
  made.value = expression();
  made.body = block();
  if (lexer_.is("elif")) {
    Stmt inner;
    inner.line = lexer_.now().line;
    conditional(inner);
    made.otherwise.push_back(std::move(inner));
  } else if (lexer_.take_if("else")) {
    made.otherwise = block();
  }
}

void SourceParser::loop(Stmt& made) {
  if (lexer_.take_if("while")) {
    made.kind = Stmt::Kind::While;
    made.value = expression();
  } else if (lexer_.take_if("for")) {
    made.kind = Stmt::Kind::For;
    made.targets.push_back(target_list());
    lexer_.expect("in");
    made.value = expression_list();
  } else {
    lexer_.expect("with");
    made.kind = Stmt::Kind::With;
    made.value = expression();
    if (lexer_.take_if("as")) made.targets.push_back(expression());
    if (lexer_.is(",")) lexer_.fail("expected one context in a with statement");
  }
  made.body = block();
  if (lexer_.is("else")) lexer_.fail("a loop's else is not supported");
}

// Targets of a for loop: "i", "i, x", "(i, x)".
ExprPtr SourceParser::target_list() {
  const auto item = [&] {
    return lexer_.is("(") || lexer_.is("[")
               ? expression()
               : make(Expr::Kind::Name, std::string(lexer_.expect(TokenKind::Name, "a name").text));
  };
  ExprPtr first = item();
  if (!lexer_.is(",")) return first;
  ExprPtr made = make(Expr::Kind::Tuple);
  add(*made, std::move(first));
  while (lexer_.take_if(",") && !lexer_.is("in")) add(*made, item());
  return made;
}

void SourceParser::simple(Stmt& made) {
  using Kind = Stmt::Kind;
  const auto ends = [&] { return lexer_.now().kind == TokenKind::Newline || lexer_.is(";"); };
  if (lexer_.take_if("pass")) {
    made.kind = Kind::Pass;
  } else if (lexer_.take_if("break")) {
    made.kind = Kind::Break;
  } else if (lexer_.take_if("continue")) {
    made.kind = Kind::Continue;
  } else if (lexer_.take_if("return")) {
    made.kind = Kind::Return;
    if (!ends()) made.value = expression_list();
  } else if (lexer_.take_if("raise")) {
    made.kind = Kind::Raise;
    if (!ends()) made.value = expression();
  } else if (lexer_.take_if("assert")) {
    made.kind = Kind::Assert;
    made.value = expression();
    if (lexer_.take_if(",")) made.targets.push_back(expression());
  } else if (lexer_.take_if("del")) {
    made.kind = Kind::Delete;
    made.targets.push_back(expression_list());
  } else {
    assignment(made);
  }
}

void SourceParser::assignment(Stmt& made) {
  made.value = expression_list();
  if (lexer_.take_if(":")) {
    made.kind = Stmt::Kind::Assign;
    made.type = type();
    made.targets.push_back(std::move(made.value));
    if (lexer_.take_if("=")) made.value = expression_list();
    return;
  }
  if (is_augmented(lexer_.now())) {
    made.kind = Stmt::Kind::Augmented;
    made.text = std::string(lexer_.take().text);
    made.targets.push_back(std::move(made.value));
    made.value = expression_list();
    return;
  }
  made.kind = lexer_.is("=") ? Stmt::Kind::Assign : Stmt::Kind::Expression;
  while (lexer_.take_if("=")) {
    made.targets.push_back(std::move(made.value));
    made.value = expression_list();
  }
}

FileSyntax parse_source(std::string_view text, const std::string& label) {
  if (text.size() > kMaxText)
    hb::detail::fail<Error>("[TorchScript] ", label, ": expected at most ", kMaxText, " characters of code");
  return SourceParser(text, label).run();
}

}  // namespace hb::bridge::script
