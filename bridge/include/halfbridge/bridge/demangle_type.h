#pragma once

#include <typeinfo>

#include <halfbridge/bridge/utility.h>

namespace hb::bridge {

/// The name of T, which lives as long as the program.
template <typename T>
const char* demangle_type() {
  static const auto* const name = new std::string(demangle(typeid(T).name()));
  return name->c_str();
}

}  // namespace hb::bridge
