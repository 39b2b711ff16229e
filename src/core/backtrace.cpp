#include "core/backtrace.h"

#if __has_include(<execinfo.h>) && __has_include(<dlfcn.h>)
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <sstream>

#include "core/demangled.h"

namespace hb::detail {

std::string backtrace_text(int skipped) {
  constexpr int kFrames = 64;
  void* frames[kFrames];
  const int n = backtrace(frames, kFrames);
  std::ostringstream out;
  for (int i = std::min(n, skipped + 1); i < n; ++i) {
    out << "frame #" << i - skipped - 1 << ": ";
    Dl_info info;
    // A return address may stand behind the end of a function that never returns.
    const char* at = static_cast<char*>(frames[i]) - 1;
    if (!dladdr(at, &info)) {
      out << frames[i] << '\n';
      continue;
    }
    if (info.dli_sname) out << demangled(info.dli_sname) << " (";
    out << info.dli_fname << "+0x" << std::hex << at - static_cast<const char*>(info.dli_fbase) << std::dec;
    out << (info.dli_sname ? ")\n" : "\n");
  }
  return out.str();
}

}  // namespace hb::detail
#else
namespace hb::detail {
std::string backtrace_text(int) { return "(this system tells no functions' names)\n"; }
}  // namespace hb::detail
#endif
