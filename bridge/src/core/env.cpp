#include <halfbridge/bridge/env.h>

#include <cstdlib>

#include <halfbridge/error.h>

#include "core/warnings.h"

namespace hb::bridge::utils {

void set_env(const char* name, const char* value, bool overwrite) {
  HB_CHECK(setenv(name, value, overwrite ? 1 : 0) == 0, "[set_env] expected the name of a variable, got '", name, "'");
}
bool has_env(const char* name) noexcept { return std::getenv(name) != nullptr; }
std::optional<std::string> get_env(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}
std::optional<bool> check_env(const char* name) {
  const std::optional<std::string> value = get_env(name);
  if (!value) return std::nullopt;
  if (*value == "0" || *value == "1") return *value == "1";
  hb::detail::warn("Ignoring invalid value for boolean flag " + std::string(name) + ": " + *value +
                   "valid values are 0 or 1.");
  return std::nullopt;
}

}  // namespace hb::bridge::utils
