#pragma once
// TORCH_CHECK and its kin, throwing hb::Error and what derives from it.

#include <atomic>
#include <stdexcept>

#include <halfbridge/bridge/utility.h>
#include <halfbridge/bridge/warning.h>

#define HB_TORCH_CHECK_WITH(Type, cond, ...)                                                                        \
  do {                                                                                                              \
    if (HB_UNLIKELY(!(cond))) throw ::hb::Type(::hb::bridge::detail::check_text(#cond __VA_OPT__(, ) __VA_ARGS__)); \
  } while (false)
#define TORCH_CHECK(cond, ...) HB_TORCH_CHECK_WITH(Error, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(cond, ...) HB_TORCH_CHECK_WITH(IndexError, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(cond, ...) HB_TORCH_CHECK_WITH(ValueError, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(cond, ...) HB_TORCH_CHECK_WITH(TypeError, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_LINALG(cond, ...) HB_TORCH_CHECK_WITH(LinAlgError, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_WITH(Type, cond, ...) HB_TORCH_CHECK_WITH(Type, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(cond, ...) HB_TORCH_CHECK_WITH(NotImplementedError, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_ARG(cond, argN, ...) TORCH_CHECK(cond, "invalid argument ", argN, ": " __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(cond, ...)                                                                  \
  do {                                                                                                    \
    if (HB_UNLIKELY(!(cond)))                                                                             \
      throw ::hb::Error(::hb::detail::str(#cond " INTERNAL ASSERT FAILED at \"" __FILE__ "\":", __LINE__, \
                                          ". " __VA_OPT__(, ) __VA_ARGS__));                              \
  } while (false)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  do {                                        \
  } while (false)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b), "Check failed: " #a " == " #b " (", (a), " vs. ", (b), ")")
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b), "Check failed: " #a " != " #b " (", (a), " vs. ", (b), ")")
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b), "Check failed: " #a " < " #b " (", (a), " vs. ", (b), ")")
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b), "Check failed: " #a " <= " #b " (", (a), " vs. ", (b), ")")
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b), "Check failed: " #a " > " #b " (", (a), " vs. ", (b), ")")
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b), "Check failed: " #a " >= " #b " (", (a), " vs. ", (b), ")")
#define TORCH_WARN(...) \
  ::hb::bridge::warn(   \
      ::hb::bridge::Warning({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, ::hb::detail::str(__VA_ARGS__)))
#define TORCH_WARN_ONCE(...)                                                                                \
  do {                                                                                                      \
    static ::std::atomic<bool> hb_warned{false};                                                            \
    if (!hb_warned.exchange(true) || ::hb::bridge::WarningUtils::get_warnAlways()) TORCH_WARN(__VA_ARGS__); \
  } while (false)
#define TORCH_CHECK_NOTNULL(pointer) ((pointer) ? (pointer) : throw ::hb::Error("Check failed: " #pointer " is null"))
#define TORCH_DCHECK_EQ(a, b) TORCH_INTERNAL_ASSERT_DEBUG_ONLY((a) == (b))
#define TORCH_DCHECK_NE(a, b) TORCH_INTERNAL_ASSERT_DEBUG_ONLY((a) != (b))
#define TORCH_DCHECK_LT(a, b) TORCH_INTERNAL_ASSERT_DEBUG_ONLY((a) < (b))
#define TORCH_DCHECK_LE(a, b) TORCH_INTERNAL_ASSERT_DEBUG_ONLY((a) <= (b))
#define TORCH_DCHECK_GT(a, b) TORCH_INTERNAL_ASSERT_DEBUG_ONLY((a) > (b))
#define TORCH_DCHECK_GE(a, b) TORCH_INTERNAL_ASSERT_DEBUG_ONLY((a) >= (b))
#define TORCH_WARN_WITH(Type, ...)                                                                        \
  ::hb::bridge::warn(::hb::bridge::Warning(Type(), {__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, \
                                           ::hb::detail::str(__VA_ARGS__)))
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN_WITH(::hb::bridge::Warning::DeprecationWarning, __VA_ARGS__)
#define AT_ERROR(...) throw ::hb::Error(::hb::detail::str(__VA_ARGS__))
#define AT_ASSERT(cond, ...) TORCH_INTERNAL_ASSERT(cond __VA_OPT__(, ) __VA_ARGS__)
#define AT_ASSERTM(cond, ...) TORCH_CHECK(cond __VA_OPT__(, ) __VA_ARGS__)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#define AT_INDEX_ERROR(...) throw ::hb::IndexError(::hb::detail::str(__VA_ARGS__))
#define C10_THROW_ERROR(Type, ...) throw ::hb::Type(::hb::detail::str(__VA_ARGS__))
