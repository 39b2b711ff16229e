#pragma once
// Builds the trees of syntax.h.

#include "script/lexer.h"
#include "script/syntax.h"

namespace hb::bridge::script {

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::string label) : lexer_(text, std::move(label)) {}

 protected:
  ExprPtr expression();
  /// "a, b, *c": a tuple where there is a comma.
  ExprPtr expression_list();
  /// A type in Python's form, without quotes.
  std::string type();
  ExprPtr make(Expr::Kind kind, std::string text = {}) const;
  /// Adds a part, whose depth is bounded.
  void add(Expr& owner, ExprPtr part) const;
  /// Throws where the text is nested too deep; goes out again when it is destroyed.
  struct Level {
    explicit Level(ExpressionParser& parser);
    ~Level() { --parser_.level_; }
    ExpressionParser& parser_;
  };
  bool ends_list() const;

  Lexer lexer_;
  int level_ = 0;

 private:
  /// Several of what `part` reads, with `word` between them, or the only one.
  ExprPtr junction(Expr::Kind kind, std::string_view word, ExprPtr (ExpressionParser::*part)());
  ExprPtr disjunction();
  ExprPtr conjunction();
  ExprPtr negation();
  ExprPtr comparison();
  std::string comparison_operator();
  ExprPtr binary(int least);
  ExprPtr unary();
  ExprPtr power();
  ExprPtr postfix();
  ExprPtr call(ExprPtr callee);
  ExprPtr subscript(ExprPtr value);
  ExprPtr subscript_item();
  ExprPtr atom();
  ExprPtr parenthesis();
  ExprPtr list();
  ExprPtr dict();
  void comprehension(Expr& owner);
};

class SourceParser : private ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;
  FileSyntax run();

 private:
  std::shared_ptr<FunctionSyntax> function();
  Parameter parameter(bool by_name);
  std::shared_ptr<ClassSyntax> class_();
  void class_line(ClassSyntax& made);
  void hidden_line(ClassSyntax& made, const std::string& name);
  Block block();
  Stmt statement();
  void simple(Stmt& made);
  void assignment(Stmt& made);
  void conditional(Stmt& made);
  void loop(Stmt& made);
  ExprPtr target_list();
};

}  // namespace hb::bridge::script
