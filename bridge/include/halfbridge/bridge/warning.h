#pragma once
// Warnings: where they go (c10::WarningHandler), and the name of a place in a source file.

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include <halfbridge/error.h>
#include <halfbridge/macros.h>

namespace hb::bridge {
inline namespace api {

class Warning {
 public:
  class UserWarning {};
  class DeprecationWarning {};
  using warning_variant_t = std::variant<UserWarning, DeprecationWarning>;

  Warning(warning_variant_t type, SourceLocation source_location, std::string msg, bool verbatim = false)
      : Warning(source_location, std::move(msg), verbatim) {
    type_ = type;
  }
  Warning(SourceLocation source_location, std::string msg, bool verbatim = false)
      : source_location_(source_location), msg_(std::move(msg)), verbatim_(verbatim) {}
  warning_variant_t type() const { return type_; }
  const SourceLocation& source_location() const { return source_location_; }
  const std::string& msg() const { return msg_; }
  bool verbatim() const { return verbatim_; }

 private:
  warning_variant_t type_;
  SourceLocation source_location_;
  std::string msg_;
  bool verbatim_;
};

/// Takes every warning of the thread that set it. The default one writes to standard error.
class HB_API WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning);
};

/// Hands the warning to this thread's handler.
HB_API void warn(const Warning& warning);

}  // namespace api

namespace WarningUtils {
/// Null sets the default handler again. The caller keeps the handler.
HB_API void set_warning_handler(WarningHandler* handler) noexcept;
HB_API WarningHandler* get_warning_handler() noexcept;
/// Whether warnings that are given once are given every time.
HB_API void set_warnAlways(bool always) noexcept;
HB_API bool get_warnAlways() noexcept;

class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler) : previous_(get_warning_handler()) {
    set_warning_handler(handler);
  }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;
  ~WarningHandlerGuard() { set_warning_handler(previous_); }

 private:
  WarningHandler* previous_;
};
struct WarnAlways {
  explicit WarnAlways(bool setting = true) : previous(get_warnAlways()) { set_warnAlways(setting); }
  WarnAlways(const WarnAlways&) = delete;
  WarnAlways& operator=(const WarnAlways&) = delete;
  ~WarnAlways() { set_warnAlways(previous); }
  bool previous;
};
}  // namespace WarningUtils

}  // namespace hb::bridge
