#include "core/demangled.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace hb::detail {

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return text ? text.get() : symbol;
}

}  // namespace hb::detail
