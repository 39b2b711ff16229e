#pragma once
// What goes up through running code, and what of it reaches the program.

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <halfbridge/error.h>

namespace hb::bridge::script {

/// `raise` of the code, with the class if it names one, or a failed `assert`.
class Raised final : public Error {
 public:
  Raised(std::optional<std::string> of, std::string message)
      : Error(of.value_or("RuntimeError") + ": " + message), python_class(std::move(of)), message(std::move(message)) {}
  const std::optional<std::string> python_class;
  const std::string message;
};

/// Throws what LibTorch throws where running code fails with this error.
[[noreturn]] void rethrow_outside(std::exception_ptr error);

}  // namespace hb::bridge::script
