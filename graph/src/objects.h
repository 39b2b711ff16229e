#pragma once
// Objects of the program from which a step takes numbers and tensors that no kernel's call shows: the library's modules
// with their options, and those that CompileOptions::reads() names.

#include <string>
#include <vector>

#include <halfbridge/bridge/nn/module.h>
#include <halfbridge/graph.h>

namespace hb::graph {

class ObjectGuard {
 public:
  /// Takes the bytes of these objects and of all modules: of the library's classes all of them, of the program's what
  /// they have of Module.
  explicit ObjectGuard(const std::vector<CompileOptions::Object>& named);
  /// What is no longer as it was; null where everything is.
  const char* differs();

 private:
  struct Bytes {
    const char* begin;
    std::string were;
    bool same() const;
  };
  std::vector<Bytes> named_, of_modules_;
  std::vector<std::pair<const bridge::nn::Module*, uint64_t>> ids_;  // of these modules
  uint64_t ended_;  // modules that had come to their end when all of them were there
};

}  // namespace hb::graph
