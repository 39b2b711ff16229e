#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/ivalue.h>
#include <halfbridge/macros.h>

namespace hb::bridge::jit {

/// Throws hb::Error: code of TorchScript is not run. `what` is the function that was asked for, `of` whose code it is.
[[noreturn]] HB_API void code_is_not_run(const char* what, const std::string& of);

/// LibTorch's archives share the classes of one compilation unit; here they need none. What would compile or run code
/// throws.
struct CompilationUnit {
  CompilationUnit() = default;
  explicit CompilationUnit(const std::string& source) { define(std::nullopt, source); }
  template <typename Prefix, typename... Rest>
  void define(const Prefix&, const std::string&, const Rest&...) {
    code_is_not_run("jit.CompilationUnit.define", "a source text");
  }
  template <typename... Args>
  IValue run_method(const std::string& name, Args&&...) {
    code_is_not_run("jit.CompilationUnit.run_method", name);
  }
};

}  // namespace hb::bridge::jit
