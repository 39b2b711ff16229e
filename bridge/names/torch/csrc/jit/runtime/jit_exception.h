#pragma once
// What a script throws in LibTorch. Programs catch it; nothing of Halfbridge throws it, since code of a script is not
// run.

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace torch::jit {
struct JITException : std::runtime_error {
  explicit JITException(const std::string& message, std::optional<std::string> python_class = std::nullopt,
                        std::optional<std::string> original = std::nullopt)
      : std::runtime_error(message), python_class_(std::move(python_class)), original_(std::move(original)) {}
  std::optional<std::string> getPythonClassName() const { return python_class_; }
  std::optional<std::string> getOriginalMsg() const { return original_; }

 private:
  std::optional<std::string> python_class_, original_;
};
}  // namespace torch::jit
