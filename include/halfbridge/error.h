#pragma once

#include <cstdint>
#include <exception>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/macros.h>

namespace hb {

/// A place in a source file.
struct SourceLocation {
  const char* function;
  const char* file;
  uint32_t line;
};
inline std::ostream& operator<<(std::ostream& out, const SourceLocation& at) {
  return out << at.function << " at " << at.file << ':' << at.line;
}

/// What every failed check of the library throws. Bridge programs know it as `c10::Error` and `torch::Error`.
class HB_API Error : public std::exception {
 public:
  explicit Error(std::string msg);
  Error(SourceLocation where, std::string msg);
  ~Error() override;
  /// The message and what add_context added.
  const char* what() const noexcept override { return context_.empty() ? msg_.c_str() : what_.c_str(); }
  const char* what_without_backtrace() const noexcept { return what(); }
  const std::string& msg() const { return msg_; }
  const std::vector<std::string>& context() const { return context_; }
  /// Says more about an error that is on its way: catch (c10::Error& e) { e.add_context("in layer 3"); throw; }
  void add_context(std::string more);

 private:
  std::string msg_, what_;
  std::vector<std::string> context_;
};

/// An index is out of range.
class HB_API IndexError : public Error {
  using Error::Error;
};
/// A value is not one of those allowed.
class HB_API ValueError : public Error {
  using Error::Error;
};
/// A dtype does not fit.
class HB_API TypeError : public Error {
  using Error::Error;
};
/// A matrix has no decomposition of the kind that was asked for.
class HB_API LinAlgError : public Error {
  using Error::Error;
};
/// The operation exists in LibTorch and is not supported here.
class HB_API NotImplementedError : public Error {
  using Error::Error;
};

namespace detail {
/// Joins the printed forms of its arguments.
template <class... Args>
std::string str(const Args&... args) {
  std::ostringstream out;
  (void)(out << ... << args);
  return out.str();
}
inline const char* str(const char* text) { return text; }  // the string is made where it is thrown
inline std::string str(const std::string& text) { return text; }

[[noreturn]] HB_API void fail(const char* file, int line, const std::string& msg);
[[noreturn]] HB_API void fail(const char* file, int line, const char* msg);
/// Hands a warning to the sink, by default print_warning. The bridge's sink is the program's c10::WarningHandler.
HB_API void warn(const std::string& msg);
HB_API void print_warning(const std::string& msg);
using WarningSink = void (*)(const std::string& msg);
HB_API void set_warning_sink(WarningSink sink);
}  // namespace detail
}  // namespace hb

/// Throws hb::Error with the joined arguments unless the condition holds.
#define HB_CHECK(cond, ...)                                                                           \
  do {                                                                                                \
    if (HB_UNLIKELY(!(cond))) ::hb::detail::fail(__FILE__, __LINE__, ::hb::detail::str(__VA_ARGS__)); \
  } while (0)
/// The same for an index out of range and for what is not supported.
#define HB_CHECK_INDEX(cond, ...)                                                     \
  do {                                                                                \
    if (HB_UNLIKELY(!(cond))) throw ::hb::IndexError(::hb::detail::str(__VA_ARGS__)); \
  } while (0)
/// For a value that is not one of those allowed.
#define HB_CHECK_VALUE(cond, ...)                                                     \
  do {                                                                                \
    if (HB_UNLIKELY(!(cond))) throw ::hb::ValueError(::hb::detail::str(__VA_ARGS__)); \
  } while (0)
#define HB_NOT_SUPPORTED(...) throw ::hb::NotImplementedError(::hb::detail::str(__VA_ARGS__))
#define HB_CHECK_SUPPORTED(cond, ...)                        \
  do {                                                       \
    if (HB_UNLIKELY(!(cond))) HB_NOT_SUPPORTED(__VA_ARGS__); \
  } while (0)
