#pragma once
// Warnings that the engine gives once, as LibTorch gives them: per place in the source, unless the program asks for
// all.

#include <atomic>

#include <halfbridge/error.h>

namespace hb::detail {

/// WarningUtils::set_warnAlways sets it.
extern std::atomic<bool> warn_always;

}  // namespace hb::detail

/// Gives the warning the first time that this line runs.
#define HB_WARN_ONCE(...)                                                                                           \
  do {                                                                                                              \
    static std::atomic<bool> hb_warned{false};                                                                      \
    if (!hb_warned.exchange(true) || ::hb::detail::warn_always) ::hb::detail::warn(::hb::detail::str(__VA_ARGS__)); \
  } while (0)
