// Errors of reading and writing files.
#pragma once

#include <string>

#include <halfbridge/error.h>

namespace hb::io {

/// Throws hb::Error "[operation] ...", the rest joined from the parts.
template <typename... Parts>
[[noreturn]] void io_fail(const char* operation, const Parts&... parts) {
  detail::fail<Error>("[", operation, "] ", parts...);
}

}  // namespace hb::io
