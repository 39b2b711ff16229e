#pragma once
// TorchScript's source text as trees: what the parser gives and the compiler takes.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hb::bridge::script {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Expr {
  enum class Kind {
    Name,    // text
    Number,  // text
    Text,    // text, unquoted
    None,
    True,
    False,
    Ellipsis,
    Attribute,  // parts[0].text
    Call,       // parts[0](parts[1...], keywords[i]=the last parts)
    Subscript,  // parts[0][parts[1]]
    Slice,      // parts[0]:parts[1]:parts[2], null where left out
    Unary,      // text parts[0]
    Binary,     // parts[0] text parts[1]
    Compare,    // parts[0] operators[0] parts[1] operators[1] parts[2] ...
    And,        // parts[0] and parts[1] and ...
    Or,
    Ternary,  // parts[1] if parts[0] else parts[2]
    List,
    Tuple,
    Dict,               // parts: key, value, key, value, ...
    Comprehension,      // [parts[0] for parts[1] in parts[2] if parts[3]]
    DictComprehension,  // {parts[0]: parts[4] for ...}
    Starred,            // *parts[0]
  };
  Kind kind;
  int line = 0;
  int depth = 1;  // of the tree below
  std::string text;
  std::vector<ExprPtr> parts;
  std::vector<std::string> names;  // of a call's keywords, of a comparison's operators
};

struct Stmt;
struct FunctionSyntax;
using Block = std::vector<Stmt>;

struct Stmt {
  enum class Kind {
    Expression,  // value
    Assign,      // targets = value, with `type` if it is annotated
    Augmented,   // targets[0] text= value
    If,          // value: body, else: otherwise
    While,
    For,   // targets[0] in value
    With,  // value as targets[0]
    Return,
    Raise,   // value, null for a bare one
    Assert,  // value, targets[0]: the message
    Delete,  // targets
    Define,  // function
    Break,
    Continue,
    Pass,
  };
  Kind kind = Kind::Pass;
  int line = 0;
  std::string text;
  std::string type;
  std::vector<ExprPtr> targets;
  ExprPtr value;
  Block body, otherwise;
  std::shared_ptr<FunctionSyntax> function;
};

struct Parameter {
  std::string name;
  std::string type;  // "" where none is written
  ExprPtr value;     // the default
  bool by_name = false;
};

struct FunctionSyntax {
  std::string name;
  int line = 0;
  std::vector<Parameter> parameters;
  std::string result;  // the type, "" where none is written
  Block body;
  std::string source;  // kept for functions of a program
};

struct ClassSyntax {
  enum class Kind { Module, Object, NamedTuple, Interface, Enum };
  std::string name;
  Kind kind = Kind::Object;
  int line = 0;
  std::vector<std::pair<std::string, std::string>> fields;  // names and types
  std::vector<std::pair<std::string, ExprPtr>> constants;   // x : Final[int] = 3; the values of an enum; defaults
  bool has_hooks = false;
  std::vector<std::shared_ptr<FunctionSyntax>> methods;
};

struct FileSyntax {
  std::vector<std::shared_ptr<FunctionSyntax>> functions;
  std::vector<std::shared_ptr<ClassSyntax>> classes;
};

/// Throws hb::Error that names label and line where the text is malformed, nested more than 200 deep or too long.
FileSyntax parse_source(std::string_view text, const std::string& label);

/// The line after `line` on which the next function or class begins, or with `methods` the next method; 0 for none.
int next_line(const FileSyntax& file, int line, bool methods);

/// The tree and all below it.
void for_each_part(const Expr& tree, const std::function<void(const Expr&)>& visit);
/// "torch.conv2d" for names and attributes of names; "" for anything else.
std::string dotted_name(const Expr& tree);
/// The type that an expression writes, in Python's form ("Optional[List[int]]"); "" where it is none.
std::string type_text(const Expr& tree);

}  // namespace hb::bridge::script
