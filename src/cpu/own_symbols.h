#pragma once

#include <dlfcn.h>

namespace hb::cpu {

/// How dlopen is asked for a vendor's library that finds its own symbols before the program's. Sanitizers end a process
/// that loads such a library; the program may have one where this library has none.
inline int own_symbols_first() {
  const bool sanitized = dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace") != nullptr;
  return RTLD_NOW | RTLD_LOCAL | (sanitized ? 0 : RTLD_DEEPBIND);
}

}  // namespace hb::cpu
