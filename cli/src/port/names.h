#pragma once
// Which names of LibTorch Halfbridge has: tools/coverage/names.tsv and substitutes.tsv, from which docs/coverage.md is
// written too.

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

class Names {
 public:
  static const Names& get();

  /// torch::…, at::… or c10::…; what follows a class is taken for a member of it. `table_name` is set to the part of
  /// the name that the answer is about.
  Support symbol(std::string_view name, std::string* table_name = nullptr) const;
  Support macro(std::string_view name) const { return of("macro", name); }
  Support tensor_method(std::string_view name) const { return of("tensor", name); }
  /// A method of any class but Tensor.
  Support member(std::string_view name) const { return of("member", name); }
  /// `torch/torch.h`. A header that Halfbridge lacks is missing.
  Support header(std::string_view path) const;
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
};

}  // namespace hb::cli::port
