#pragma once

#include <string>

namespace hb::detail {

/// A C++ name as source writes it; `symbol` itself where it is none that the compiler mangled.
std::string demangled(const char* symbol);

}  // namespace hb::detail
