#pragma once

#include <string>

namespace hb::detail {

/// Who calls, a line for each function from the innermost: "name (file+0x12)". Functions whose names the program does
/// not export are "file+0x12", which addr2line reads. Leaves out the first `skipped` callers.
std::string backtrace_text(int skipped = 0);

}  // namespace hb::detail
