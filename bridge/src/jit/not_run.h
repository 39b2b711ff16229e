#pragma once

#include <string>

namespace hb::bridge::jit {

/// Throws hb::Error: code of TorchScript is not run. `what` is the function that was asked for, `of` whose code it is.
[[noreturn]] void code_is_not_run(const char* what, const std::string& of);

}  // namespace hb::bridge::jit
