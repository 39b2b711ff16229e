#pragma once
// What a function of both libraries says when it fails.
#include <string>

#include <torch/torch.h>

namespace parity {

/// The text of the c10::Error that f throws, without a backtrace.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

}  // namespace parity
