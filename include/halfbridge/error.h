#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
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

/// A value that is made when it is asked for.
template <class T>
class LazyValue {
 public:
  virtual ~LazyValue() = default;
  virtual const T& get() const = 0;
};
using Backtrace = std::shared_ptr<const LazyValue<std::string>>;

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
  /// No calls are kept: never null, its text says so.
  const Backtrace& backtrace() const;
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
/// An argument of a message: where it lies and what prints it. Messages are joined from these by the library, so that a
/// check costs the code around it two pointers an argument and not the code of a stream.
struct Printed {
  const void* value;
  void (*print)(std::ostream& out, const void* value);
};
HB_API void print_text(std::ostream& out, const void* text);
template <class T>
void print_value(std::ostream& out, const void* value) {
  out << *static_cast<const T*>(value);
}
template <class Function>
void print_function(std::ostream& out, const void* value) {  // a manipulator, as std::hex
  out << reinterpret_cast<Function*>(const_cast<void*>(value));
}
template <class T>
Printed printed(const T& value) {
  if constexpr (std::is_function_v<T>)
    return {reinterpret_cast<const void*>(&value), print_function<T>};
  else if constexpr (std::is_array_v<T> && std::is_same_v<std::remove_extent_t<T>, char>)
    return {value, print_text};
  else
    return {std::addressof(value), print_value<T>};
}
HB_API std::string joined(const Printed* parts, size_t count);
/// Throws E with the joined message.
template <class E>
[[noreturn]] HB_API void throw_joined(const Printed* parts, size_t count);

/// Joins the printed forms of its arguments.
template <class... Args>
std::string str(const Args&... args) {
  const Printed parts[] = {printed(args)..., {}};
  return joined(parts, sizeof...(args));
}
inline const char* str(const char* text) { return text; }  // the string is made where it is thrown
inline std::string str(const std::string& text) { return text; }

/// Throws E, one of the classes above, with the printed forms of the arguments.
template <class E, class... Args>
[[noreturn]] void fail(const Args&... args) {
  const Printed parts[] = {printed(args)..., {}};
  throw_joined<E>(parts, sizeof...(args));
}
/// Hands a warning to the sink, by default print_warning. The bridge's sink is the program's c10::WarningHandler.
HB_API void warn(const std::string& msg);
HB_API void print_warning(const std::string& msg);
using WarningSink = void (*)(const std::string& msg);
HB_API void set_warning_sink(WarningSink sink);
}  // namespace detail
}  // namespace hb

/// Throws hb::Error with the joined arguments unless the condition holds.
#define HB_CHECK(cond, ...)                                                 \
  do {                                                                      \
    if (HB_UNLIKELY(!(cond))) ::hb::detail::fail<::hb::Error>(__VA_ARGS__); \
  } while (0)
/// The same for an index out of range and for what is not supported.
#define HB_CHECK_INDEX(cond, ...)                                                \
  do {                                                                           \
    if (HB_UNLIKELY(!(cond))) ::hb::detail::fail<::hb::IndexError>(__VA_ARGS__); \
  } while (0)
/// For a value that is not one of those allowed.
#define HB_CHECK_VALUE(cond, ...)                                                \
  do {                                                                           \
    if (HB_UNLIKELY(!(cond))) ::hb::detail::fail<::hb::ValueError>(__VA_ARGS__); \
  } while (0)
#define HB_NOT_SUPPORTED(...) ::hb::detail::fail<::hb::NotImplementedError>(__VA_ARGS__)
#define HB_CHECK_SUPPORTED(cond, ...)                        \
  do {                                                       \
    if (HB_UNLIKELY(!(cond))) HB_NOT_SUPPORTED(__VA_ARGS__); \
  } while (0)
