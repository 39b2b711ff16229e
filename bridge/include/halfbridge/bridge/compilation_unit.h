#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/ivalue.h>
#include <halfbridge/macros.h>

namespace hb::bridge::script {
class Unit;
}

namespace hb::bridge::jit {

class Function;  // <halfbridge/bridge/dispatch/custom_class.h>

/// Functions of TorchScript, compiled from a source text. Archives have a unit each of their own.
struct HB_API CompilationUnit {
  CompilationUnit();
  explicit CompilationUnit(const std::string& source) : CompilationUnit() { add(source); }
  /// Adds the functions of a text; throws hb::Error, which names the line, where it is malformed.
  template <typename Prefix, typename... Rest>
  void define(const Prefix& /*prefix*/, const std::string& source, const Rest&... /*rest*/) {
    add(source);
  }
  /// Null, or an error, where there is no such function.
  Function* find_function(const std::string& name) const;
  Function& get_function(const std::string& name) const;
  std::vector<Function*> get_functions() const;
  template <typename... Args>
  IValue run_method(const std::string& name, Args&&... args) {
    return run(name, std::vector<IValue>{IValue(std::forward<Args>(args))...});
  }

 private:
  void add(const std::string& source);
  IValue run(const std::string& name, std::vector<IValue> arguments) const;
  std::shared_ptr<script::Unit> unit_;
};

}  // namespace hb::bridge::jit
