#pragma once
// TORCH_CHECK and its kin, throwing hb::Error and what derives from it.

#include <atomic>
#include <stdexcept>

#include <halfbridge/bridge/logging.h>
#include <halfbridge/bridge/utility.h>
#include <halfbridge/bridge/warning.h>

// Statements as LibTorch's: a plain `if`, after which a program may leave out the semicolon.
#define HB_TORCH_CHECK_WITH(Type, cond, ...)                                              \
  if (HB_UNLIKELY(!(cond))) {                                                             \
    throw ::hb::Type(::hb::bridge::detail::check_text(#cond __VA_OPT__(, ) __VA_ARGS__)); \
  }
#define TORCH_CHECK(cond, ...) HB_TORCH_CHECK_WITH(Error, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(cond, ...) HB_TORCH_CHECK_WITH(IndexError, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(cond, ...) HB_TORCH_CHECK_WITH(ValueError, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(cond, ...) HB_TORCH_CHECK_WITH(TypeError, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_LINALG(cond, ...) HB_TORCH_CHECK_WITH(LinAlgError, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_WITH(Type, cond, ...) HB_TORCH_CHECK_WITH(Type, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(cond, ...) HB_TORCH_CHECK_WITH(NotImplementedError, cond __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_ARG(cond, argN, ...) TORCH_CHECK(cond, "invalid argument ", argN, ": " __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(cond, ...)                                                                \
  if (HB_UNLIKELY(!(cond))) {                                                                           \
    throw ::hb::Error(::hb::detail::str(#cond " INTERNAL ASSERT FAILED at \"" __FILE__ "\":", __LINE__, \
                                        ". " __VA_OPT__(, ) __VA_ARGS__));                              \
  }
// Of torch/headeronly: it throws no error of c10's.
#define STD_TORCH_CHECK(cond, ...)                                                                    \
  if (HB_UNLIKELY(!(cond))) {                                                                         \
    throw ::std::runtime_error(                                                                       \
        ::hb::detail::str(__func__, ", ", __FILE__, ":", __LINE__, ", " __VA_OPT__(, ) __VA_ARGS__)); \
  }
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  while (false) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
// What the program streams into one of these becomes part of the message.
#define HB_CHECK_OP(a, b, op)                                                                                    \
  ((a)op(b)) ? (void)0                                                                                           \
             : ::hb::bridge::LogVoid() & ::hb::bridge::FailedCheck(__FILE__, __LINE__).stream()                  \
                                             << "Check failed: " #a " " #op " " #b " (" << (a) << " vs. " << (b) \
                                             << "). "
#ifdef NDEBUG
#define HB_DCHECK_OP(a, b, op) \
  while (false) HB_CHECK_OP(a, b, op)
#else
#define HB_DCHECK_OP(a, b, op) HB_CHECK_OP(a, b, op)
#endif
#define TORCH_CHECK_EQ(a, b) HB_CHECK_OP(a, b, ==)
#define TORCH_CHECK_NE(a, b) HB_CHECK_OP(a, b, !=)
#define TORCH_CHECK_LT(a, b) HB_CHECK_OP(a, b, <)
#define TORCH_CHECK_LE(a, b) HB_CHECK_OP(a, b, <=)
#define TORCH_CHECK_GT(a, b) HB_CHECK_OP(a, b, >)
#define TORCH_CHECK_GE(a, b) HB_CHECK_OP(a, b, >=)
#define TORCH_WARN(...) \
  ::hb::bridge::warn(   \
      ::hb::bridge::Warning({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, ::hb::detail::str(__VA_ARGS__)));
#define TORCH_WARN_ONCE(...)                                                                               \
  {                                                                                                        \
    static ::std::atomic<bool> hb_warned{false};                                                           \
    if (!hb_warned.exchange(true) || ::hb::bridge::WarningUtils::get_warnAlways()) TORCH_WARN(__VA_ARGS__) \
  }
#define TORCH_CHECK_NOTNULL(pointer) \
  ((pointer) ? (pointer) : throw ::hb::Error("Check failed: '" #pointer "' must be non NULL. "))
#define TORCH_DCHECK_EQ(a, b) HB_DCHECK_OP(a, b, ==)
#define TORCH_DCHECK_NE(a, b) HB_DCHECK_OP(a, b, !=)
#define TORCH_DCHECK_LT(a, b) HB_DCHECK_OP(a, b, <)
#define TORCH_DCHECK_LE(a, b) HB_DCHECK_OP(a, b, <=)
#define TORCH_DCHECK_GT(a, b) HB_DCHECK_OP(a, b, >)
#define TORCH_DCHECK_GE(a, b) HB_DCHECK_OP(a, b, >=)
#define TORCH_WARN_WITH(Type, ...)                                                                        \
  ::hb::bridge::warn(::hb::bridge::Warning(Type(), {__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, \
                                           ::hb::detail::str(__VA_ARGS__)));
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN_WITH(::hb::bridge::Warning::DeprecationWarning, __VA_ARGS__)
#define AT_ERROR(...) throw ::hb::Error(::hb::detail::str(__VA_ARGS__))
#define AT_ASSERT(cond, ...)                               \
  do {                                                     \
    TORCH_INTERNAL_ASSERT(cond __VA_OPT__(, ) __VA_ARGS__) \
  } while (false)
#define AT_ASSERTM(cond, ...) AT_ASSERT(cond __VA_OPT__(, ) __VA_ARGS__)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#define AT_INDEX_ERROR(...) throw ::hb::IndexError(::hb::detail::str(__VA_ARGS__))
#define C10_THROW_ERROR(Type, ...) throw ::hb::Type(::hb::detail::str(__VA_ARGS__))
