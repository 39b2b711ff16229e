#pragma once
// <c10/util/env.h>: the environment of the process.

#include <optional>
#include <string>

#include <halfbridge/macros.h>

namespace hb::bridge::utils {

HB_API void set_env(const char* name, const char* value, bool overwrite = true);
HB_API bool has_env(const char* name) noexcept;
HB_API std::optional<std::string> get_env(const char* name) noexcept;
/// True for "1", false for "0", nothing for other values, which warn, and where it is not set.
HB_API std::optional<bool> check_env(const char* name);

}  // namespace hb::bridge::utils
