#pragma once
// The files of a source tree. Trees are taken for hostile: symbolic links are not followed, and size and number of
// files are bounded.

#include <cstdint>
#include <string>
#include <vector>

#include "lexer.h"

namespace hb::cli::port {

struct Source {
  enum Kind { cpp, cuda, cmake } kind;
  std::string path;  // below the tree's root
  std::string text;
  std::vector<Token> tokens;  // of C++ and CUDA; they point into `text`
};

struct Tree {
  std::vector<Source> sources;     // by path
  std::vector<std::string> notes;  // what was left out and why
};

struct Limits {
  uint64_t file_bytes = 4 << 20, total_bytes = 256 << 20;
  size_t files = 50'000;
  int depth = 64;
};

/// Reads a folder, or one file. Throws std::runtime_error if there is none or it cannot be read.
Tree read_tree(const std::string& root, const Limits& limits = {});

}  // namespace hb::cli::port
