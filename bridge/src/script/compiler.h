#pragma once
// Turns the tree of a function into nodes: names become places in the frame, calls are told apart.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "script/nodes.h"

namespace hb::bridge::script {

class Compiler {
 public:
  explicit Compiler(const ScriptFunction& function);
  /// Fills in what the function needs to run; throws hb::Error that names the line.
  void run();

 private:
  [[noreturn]] void fail(int line, const std::string& message) const;

  // --- compile_statement.cpp
  void collect_names(const Block& block);
  void collect_targets(const Expr& target);
  bool add_place(const std::string& name);  // false where it has one
  Actions block(const Block& statements);
  ActionPtr statement(const Stmt& made);
  ActionPtr assignment(const Stmt& made);
  bool is_alias(const Stmt& made);
  ActionPtr augmented(const Stmt& made);
  ActionPtr loop(const Stmt& made);
  ActionPtr raise(const Stmt& made);
  ActionPtr deletion(const Stmt& made);
  TargetPtr target(const Expr& tree);
  void define(const Stmt& made);

  // --- compile_expression.cpp
  NodePtr expression(const Expr& tree);
  Nodes expressions(const Expr& tree, size_t from = 0);
  NodePtr name(const Expr& tree);
  NodePtr number(const Expr& tree) const;
  NodePtr attribute(const Expr& tree);
  NodePtr unary(const Expr& tree);
  NodePtr binary(const Expr& tree);
  NodePtr comprehension(const Expr& tree);
  NodePtr annotated(int line, const std::string& type, const Expr& tree);
  std::unique_ptr<Subscript> subscript(const Expr& tree);
  NodePtr constant_of(const std::string& path, int line) const;

  // --- compile_call.cpp
  NodePtr call(const Expr& tree);
  NodePtr folded(const Expr& tree);
  NodePtr module_of(const Names& path, int line);
  NodePtr call_of_path(const Expr& tree, const std::string& path);
  NodePtr call_of_word(const Expr& tree, const std::string& word);
  NodePtr special(const Expr& tree, const std::string& word);
  NodePtr is_instance(const Expr& tree);
  NodePtr named_attribute(const Expr& tree);
  NodePtr operator_call(const Expr& tree, const std::string& name, size_t from = 1);
  NodePtr function_call(const Expr& tree, const ScriptFunction& function, size_t from = 1);
  NodePtr class_call(const Expr& tree, ScriptClass& of, bool initialise, size_t from = 1);
  /// "a.b.c" where `a` is no variable; "" for anything else.
  std::string path_of(const Expr& tree) const;
  const ScriptFunction* function_named(const std::string& path) const;
  void check_no_names(const Expr& tree, const char* what) const;

  const ScriptFunction& function_;
  Unit& unit_;
  std::map<std::string, size_t> places_;
  size_t place_count_ = 0;
  std::map<std::string, std::string> aliases_;          // _0 = __torch__.torch.nn.functional.relu
  std::map<std::string, const ScriptFunction*> inner_;  // def within a function
  std::map<size_t, Local*> latest_use_;                 // of each place, outside of loops
  int loops_ = 0;
};

}  // namespace hb::bridge::script
