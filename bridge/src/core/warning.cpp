#include <halfbridge/bridge/warning.h>

#include "core/warnings.h"

namespace hb::bridge {
inline namespace api {

namespace {
WarningHandler& default_handler() {
  static auto& handler = *new WarningHandler;  // never destroyed: threads may ask while the process ends
  return handler;
}
thread_local WarningHandler* current = nullptr;

// The engine's own warnings take the same way.
const bool installed = (hb::detail::set_warning_sink([](const std::string& msg) {
                          warn(Warning({"", "", 0}, msg));
                        }),
                        true);
}  // namespace

void WarningHandler::process(const Warning& warning) { hb::detail::print_warning(warning.msg()); }

void warn(const Warning& warning) { WarningUtils::get_warning_handler()->process(warning); }

}  // namespace api

namespace WarningUtils {
void set_warning_handler(WarningHandler* handler) noexcept { current = handler; }
WarningHandler* get_warning_handler() noexcept { return current ? current : &default_handler(); }
void set_warnAlways(bool always) noexcept { hb::detail::warn_always = always; }
bool get_warnAlways() noexcept { return hb::detail::warn_always; }
}  // namespace WarningUtils

}  // namespace hb::bridge
