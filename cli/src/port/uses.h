#pragma once
// What a tree uses of LibTorch.

#include <map>
#include <string>
#include <vector>

#include "names.h"
#include "sources.h"

namespace hb::cli::port {

struct Place {
  std::string file;
  int line;
};

/// A name and where it is used.
struct Use {
  enum Kind { symbol, tensor_method, member, macro, header, build } kind;
  std::string name;  // torch::relu, .view(), TORCH_CHECK, <torch/script.h>, c10_cuda
  bool supported = true;
  bool sure = true;     // false: a method that LibTorch's Tensor has, of an object whose type does not show
  std::string instead;  // what to write where it is not supported
  std::vector<Place> places;
  std::string limit = {};  // what it does not do, where it compiles and does less than LibTorch's
};

struct Uses {
  std::vector<Use> all;  // by kind and name
  std::vector<std::string> cuda_sources, notes;
  size_t files = 0;  // that were read

  /// Names of LibTorch (headers and the build apart): how many, and how many of them Halfbridge lacks.
  size_t names() const, missing() const;
  /// Names that compile and do less.
  size_t limited() const;
  /// Files with something that is not supported.
  std::vector<std::string> files_to_edit() const;
};

/// Throws std::runtime_error if there is no such folder or no C++ in it.
Uses find_uses(const std::string& root);

/// The part of it in CMake files: calls `add(name, instead, line)` for what Halfbridge's package does not offer.
void find_cmake_uses(const Source& source, std::vector<Use>& uses);

}  // namespace hb::cli::port
