#pragma once
// What code of TorchScript throws that raises.

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <halfbridge/macros.h>

namespace hb::bridge::jit {

/// `raise` or a failed `assert` of the code. As in LibTorch, other failures within running code are a plain
/// std::runtime_error, and what the library lacks is a NotImplementedError. Arguments that do not fit the function that
/// the program calls are an Error.
class HB_API JITException : public std::runtime_error {
 public:
  explicit JITException(const std::string& message, std::optional<std::string> python_class = std::nullopt,
                        std::optional<std::string> original = std::nullopt);
  ~JITException() override;
  /// The class, if the code named one: "builtins.ValueError".
  std::optional<std::string> getPythonClassName() const { return python_class_; }
  /// The message that the code gave.
  std::optional<std::string> getOriginalMsg() const { return original_; }

 private:
  std::optional<std::string> python_class_, original_;
};

}  // namespace hb::bridge::jit
