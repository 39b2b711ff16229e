#pragma once

#include <string>

namespace hb::detail {

/// A C++ name as source writes it; `symbol` itself where the compiler did not mangle it.
std::string demangled(const char* symbol);

}  // namespace hb::detail
