#pragma once
// Operators of the program's own, looked up and described.

#include <torch/library.h>

#include <sstream>
#include <string>

#include "parity/bad.h"

namespace parity {

inline c10::OperatorHandle find(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}
template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}
inline void says(Case& c, const char* phrase, const std::function<void()>& wrong) { says(c, phrase, phrase, wrong); }

}  // namespace parity
