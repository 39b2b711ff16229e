#pragma once
// What the program declares itself: names that are not LibTorch's, and what its aliases stand for.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sources.h"

namespace hb::cli::port {

class Declarations {
 public:
  explicit Declarations(const Tree& tree);

  /// Whether the program declares a class, function or macro of this name.
  bool own(std::string_view name) const { return own_.count(name) > 0; }
  bool own_class(std::string_view name) const { return own_classes_.count(name) > 0; }
  /// Whether the tree has a file whose path ends in `path`.
  bool own_header(std::string_view path) const { return !header_of(path).empty(); }
  /// How to write a namespace of the program's that stands outside of all others, or in LibTorch's, so that it is not
  /// taken for one of Halfbridge's: ::ops, torch::amp. Empty where the name is clear.
  std::string unambiguous(size_t source, std::string_view space) const;

  /// A name as it is written in a source, in full: F::relu is torch::nn::functional::relu. Empty where it does not come
  /// from LibTorch.
  std::string resolve(size_t source, std::string name) const;

 private:
  struct File {
    std::map<std::string, std::string> aliases;  // nn -> torch::nn; Tensor -> torch::Tensor
    std::set<std::string> directives;            // using namespace …, and namespaces that are reopened
    std::vector<size_t> includes;                // sources of the tree
    bool sees_all = false;                       // using namespace torch
  };
  void collect_names(const std::vector<Token>& tokens);
  void collect_macro(const std::vector<Token>& tokens, size_t name);
  void collect_function(const std::vector<Token>& tokens, size_t name);
  void collect_spaces(const std::vector<Token>& tokens);
  void collect_aliases(File& file, const std::vector<Token>& tokens);
  void collect_using(File& file, const std::vector<Token>& tokens, size_t at);
  void collect_namespace(File& file, const std::vector<Token>& tokens, size_t at);
  void share(size_t from, size_t to, std::set<size_t>& seen);
  std::vector<size_t> header_of(std::string_view path) const;
  std::string expand(const File& file, std::string name) const;

  const Tree& tree_;
  std::vector<File> files_;
  std::set<std::string, std::less<>> own_, own_classes_;
  std::map<std::string, std::string, std::less<>> own_spaces_;  // ops -> ::ops; amp -> torch::amp
  std::map<std::string, std::vector<size_t>, std::less<>> by_file_name_;
};

}  // namespace hb::cli::port
