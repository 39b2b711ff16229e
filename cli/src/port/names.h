#pragma once
// Which names of LibTorch Halfbridge has: tools/coverage/names.tsv, substitutes.tsv and limits.tsv, from which
// docs/coverage.md is written too.

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hb::cli::port {

enum class Support {
  supported,
  missing,  // LibTorch has it, Halfbridge has not
  unknown   // neither has it
};

/// Of limits.tsv: a part of LibTorch that names.tsv does not list, or a name that compiles and does less.
struct Limit {
  std::string_view pattern;
  bool compiles;
  bool supported;         // in full, though names.tsv does not list it
  std::string_view text;  // what to write instead; what it does not do
  bool is_missing() const { return !compiles && !supported; }
};

class Names {
 public:
  static const Names& get();

  /// torch, at, c10, and namespaces beside them that limits.tsv lists (c10d).
  bool is_root(std::string_view name) const;
  /// torch::…, at::… or c10::…; what follows a class is taken for a member of it. `table_name` is set to the part of
  /// the name that the answer is about.
  Support symbol(std::string_view name, std::string* table_name = nullptr) const;
  Support macro(std::string_view name) const { return of("macro", name); }
  Support tensor_method(std::string_view name) const { return of("tensor", name); }
  /// A method of any class but Tensor.
  Support member(std::string_view name) const { return of("member", name); }
  /// `torch/torch.h`. A header that Halfbridge lacks is missing.
  Support header(std::string_view path) const;
  /// Whether a name that is written without its namespace may be this one.
  bool lists(std::string_view full_name) const;
  /// What limits.tsv says of a name in full, or nothing.
  const Limit* limit(std::string_view full_name) const;
  /// Whether names in a namespace compile that names.tsv says is missing.
  bool opens(std::string_view space) const;
  /// Whether a name below its root is in a namespace that names.tsv leaves out (tools/coverage/names.py, INNER).
  static bool is_inner(std::string_view rest);
  /// Whether namespaces such as torch::nn exist on either side.
  bool is_namespace(std::string_view name) const;

  /// What to write instead of a name below its root namespace, a method, a macro or a `<header>`; empty where the table
  /// says nothing.
  std::string_view instead(std::string_view name) const;

 private:
  Names();
  struct Row {
    std::string_view libtorch, halfbridge;
  };
  const Row* find(std::string_view kind, std::string_view name) const;
  Support of(std::string_view kind, std::string_view name) const;
  std::unordered_map<std::string, Row> rows_;  // by "kind name"
  std::vector<std::pair<std::string_view, std::string_view>> substitutes_;
  std::vector<Limit> limits_;
};

}  // namespace hb::cli::port
