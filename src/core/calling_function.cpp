#include "core/calling_function.h"

#if __has_include(<execinfo.h>) && __has_include(<dlfcn.h>)
#include <dlfcn.h>
#include <execinfo.h>

#include <initializer_list>
#include <string_view>

#include "core/demangled.h"

namespace hb::detail {
namespace {

// "hb::sin_(hb::Tensor&)" -> "sin_"; functions of inner namespaces and methods of other classes have no such name.
std::string function_name(std::string_view text) {
  for (const std::string_view scope : {"hb::Tensor::", "hb::"}) {
    if (text.substr(0, scope.size()) != scope) continue;
    text.remove_prefix(scope.size());
    const size_t end = text.find_first_of("(:<");
    return end != std::string_view::npos && text[end] == '(' ? std::string(text.substr(0, end)) : std::string();
  }
  return {};
}

// Where a call of the program ends and what called it begins.
bool is_caller(const std::string& text) {
  return text.find("Engine::") != std::string::npos || text.find("hb::bridge::") != std::string::npos;
}

}  // namespace

std::string calling_function() {
  constexpr int kFrames = 32;
  void* frames[kFrames];
  const int n = backtrace(frames, kFrames);
  Dl_info here, info;
  if (!dladdr(reinterpret_cast<void*>(&calling_function), &here)) return "tensor";
  std::string found = "tensor";
  for (int i = 1; i < n; ++i) {
    // A return address may stand behind the end of a function that never returns.
    if (!dladdr(static_cast<char*>(frames[i]) - 1, &info) || info.dli_fbase != here.dli_fbase) break;
    if (!info.dli_sname) continue;
    const std::string text = demangled(info.dli_sname);
    if (is_caller(text)) break;
    if (std::string name = function_name(text); !name.empty()) found = std::move(name);
  }
  return found;
}

}  // namespace hb::detail
#else
namespace hb::detail {
std::string calling_function() { return "tensor"; }
}  // namespace hb::detail
#endif
