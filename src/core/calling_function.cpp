#include "core/calling_function.h"

#if __has_include(<execinfo.h>) && __has_include(<dlfcn.h>)
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdlib>
#include <string_view>

namespace hb::detail {
namespace {

// "hb::sin_(hb::Tensor&)" -> "sin_"; methods, functions of inner namespaces and of the back end have no such name.
std::string function_name(const char* symbol) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  if (!demangled) return {};
  std::string_view text = demangled;
  std::string name;
  for (const std::string_view scope : {"hb::Tensor::", "hb::"}) {
    if (text.substr(0, scope.size()) != scope) continue;
    text.remove_prefix(scope.size());
    const size_t end = text.find_first_of("(:<");
    if (end != std::string_view::npos && text[end] == '(') name = text.substr(0, end);
    break;
  }
  std::free(demangled);
  return name;
}

}  // namespace

std::string calling_function() {
  constexpr int kFrames = 32;
  void* frames[kFrames];
  const int n = backtrace(frames, kFrames);
  for (int i = 1; i < n; ++i) {
    Dl_info info;
    // A return address may stand behind the end of a function that never returns.
    if (!dladdr(static_cast<char*>(frames[i]) - 1, &info) || !info.dli_sname) continue;
    if (std::string name = function_name(info.dli_sname); !name.empty()) return name;
  }
  return "tensor";
}

}  // namespace hb::detail
#else
namespace hb::detail {
std::string calling_function() { return "tensor"; }
}  // namespace hb::detail
#endif
