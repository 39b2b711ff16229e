#pragma once
// What the variables and expressions of a source are, as far as it shows: enough to tell a Tensor's methods from those
// of the program, of std and of modules.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "declarations.h"

namespace hb::cli::port {

enum class Type {
  unknown,
  tensor,
  tensors,  // several: a vector, an array, a tuple
  library,  // a class of LibTorch, or of the program's own, which may derive from one
  other     // numbers, strings, std
};

class Types {
 public:
  Types(const Tree& tree, const Declarations& declarations);

  /// What the operand that ends before token `end` (a `.` or a `->`) is.
  Type operand_before(size_t source, size_t end) const;

 private:
  struct Variable {
    size_t token;  // where it is declared
    Type type;
  };
  struct File {
    std::vector<size_t> partners;
    std::map<std::string, std::vector<Variable>, std::less<>> variables;
  };
  void collect(size_t source);
  size_t declaration(size_t source, size_t at);
  void structured_binding(size_t source, size_t open);
  void declare(size_t source, std::string_view name, size_t token, Type type);
  Type declared_type(size_t source, size_t begin, size_t end) const;
  Type variable(size_t source, std::string_view name, size_t token) const;
  Type anywhere(std::string_view name) const;
  Type expression(size_t source, size_t begin, size_t end, int depth = 0) const;
  Type operand(size_t source, size_t& at, size_t end, int depth) const;
  Type primary(size_t source, size_t& at, size_t end, int depth) const;
  Type call(size_t source, const std::string& name, size_t arguments, size_t end, int depth) const;
  Type method(Type of, std::string_view name) const;

  const Tree& tree_;
  const Declarations& declarations_;
  std::vector<File> files_;
  std::map<std::string, Type, std::less<>> anywhere_;  // variables, fields and functions; unknown where they disagree
};

}  // namespace hb::cli::port
