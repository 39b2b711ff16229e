#pragma once
// What LibTorch refuses, Halfbridge refuses: a row is an expression that throws in both, and its text is its name.
#include "parity/case.h"

#include <string>

namespace parity {

// Programs search messages for such a phrase, so both builds must say it.
inline void says(Case& c, const std::string& name, const std::string& phrase, const std::function<void()>& fn) {
  std::string message;
  c.throws(name, [&] {
    try {
      fn();
    } catch (const std::exception& error) {
      message = error.what();
      throw;
    }
  });
  c.check(message.find(phrase) != std::string::npos, name + ": expected '" + phrase + "' in: " + message);
}

}  // namespace parity

#define BAD(...) c.throws(#__VA_ARGS__, [&] { __VA_ARGS__; })
#define SAYS(phrase, ...) parity::says(c, #__VA_ARGS__, phrase, [&] { __VA_ARGS__; })
