#pragma once
// How tools see the functions that a program calls (the contract: core/watchers.h). A function that can be seen has one
// line at its front: HB_AUTOCAST (autocast.h), or HB_FUNCTION where autocast leaves it alone. Both test one
// thread-local byte. What a function calls in its turn is not seen. HB_OBSERVED is the line of views, copies and
// factories, which few watchers want to see.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/tensor.h>

#include "core/devices.h"
#include "core/function_front.h"
#include "core/missing.h"

namespace hb {

class WatchedCall;

/// Beside being attached, such a watcher says for each thread whether it sees the functions that the thread calls.
class FunctionWatcher {
 public:
  virtual ~FunctionWatcher() = default;
  /// What it returns comes back when the call ends.
  virtual std::shared_ptr<void> begin(WatchedCall& call) = 0;
  virtual void end(WatchedCall& call, const std::shared_ptr<void>& begun, ArrayRef<const Tensor*> results) = 0;
  /// It ended with an exception.
  virtual void abandon(WatchedCall& call, const std::shared_ptr<void>& begun) = 0;
  /// Whether it sees views, copies and factories, too.
  virtual bool sees_everything() const { return false; }
};

/// Whether `watcher` sees the functions that this thread calls from now on.
void watch_functions(const FunctionWatcher& watcher, bool on);
bool watches_functions(const FunctionWatcher& watcher);
/// Whether any does.
inline bool functions_watched() { return (front::active & front::kWatched) != 0; }
/// Lets this thread know who wants to see the functions of all threads.
void settle_watchers_of_thread();
/// Whether any of them sees everything.
inline bool everything_watched() {
  if (HB_UNLIKELY((front::unusual.load(std::memory_order_relaxed) & front::kAllWatched) != 0))
    settle_watchers_of_thread();
  return (front::active & front::kObserved) != 0;
}

/// One call that is seen.
class WatchedCall {
 public:
  /// `parameters`: their names as the source has them, "self, dim, keepdim". `minor`: a view, copy or factory.
  WatchedCall(const char* function, const char* parameters, bool minor);
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;
  ~WatchedCall();

  std::string name;                   // as in PyTorch, no trailing `_`
  bool in_place = false;              // the first input is the result
  std::vector<const Tensor*> inputs;  // some may be undefined
  std::string config;                 // "stride=[1, 1], groups=1"

  void argument(const Tensor& t) { next(), inputs.push_back(&t); }
  void argument(const std::optional<Tensor>& t) {
    next();
    if (t) inputs.push_back(&*t);
  }
  void argument(TensorList list) {
    next();
    for (const Tensor& t : list) inputs.push_back(&t);
  }
  template <class T>
  std::enable_if_t<!std::is_convertible_v<const T&, TensorList>> argument(const T& value) {
    const std::string_view parameter = next();
    if constexpr (std::is_same_v<T, std::optional<Scalar>> || std::is_same_v<T, std::optional<int64_t>> ||
                  std::is_same_v<T, std::optional<double>>) {
      if (value) print(parameter, Scalar(*value));
    } else if constexpr (std::is_same_v<T, OptionalIntArrayRef>) {
      if (value.has_value()) print(parameter, *value);
    } else if constexpr (std::is_same_v<T, bool>) {
      print(parameter, std::string_view(value ? "true" : "false"));
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, Scalar>) {
      print(parameter, Scalar(value));
    } else if constexpr (std::is_convertible_v<const T&, IntArrayRef>) {
      print(parameter, IntArrayRef(value));
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      print(parameter, std::string_view(value));
    }
  }
  void begin();
  void end(ArrayRef<const Tensor*> results);

 private:
  std::string_view next();  // the name of the next parameter
  void print(std::string_view parameter, const Scalar& value);
  void print(std::string_view parameter, IntArrayRef value);
  void print(std::string_view parameter, std::string_view value);

  struct Told;  // the watchers that know of the call
  std::unique_ptr<Told> told_;
  std::string_view parameters_;
  bool minor_;
};

namespace detail {
inline void results_of(const Tensor& t, std::vector<const Tensor*>& out) { out.push_back(&t); }
template <class... Ts>
void results_of(const std::tuple<Ts...>& tuple, std::vector<const Tensor*>& out) {
  std::apply([&](const auto&... t) { (results_of(t, out), ...); }, tuple);
}
inline void results_of(const std::vector<Tensor>& list, std::vector<const Tensor*>& out) {
  for (const Tensor& t : list) out.push_back(&t);
}

template <class F, class... Args>
decltype(auto) watched(const char* function, const char* parameters, bool minor, const F& f, Args&... args) {
  WatchedCall call(function, parameters, minor);
  (call.argument(args), ...);
  call.in_place = std::is_reference_v<decltype(f(args...))>;
  call.begin();
  decltype(auto) result = f(args...);
  std::vector<const Tensor*> results;
  results_of(result, results);
  call.end(results);
  return result;
}
template <class... Args>
[[gnu::noinline, gnu::cold]] void look_around(const char* function, const Args&... args) {
  if (other_devices) check_one_device(function, args...);
  settle_watchers_of_thread();
}
}  // namespace detail

#define HB_WATCHED_CALL(minor, function, ...)                                                                  \
  return ::hb::detail::watched(                                                                                \
      #function, #__VA_ARGS__, minor, [](auto&... hb_args) -> decltype(auto) { return function(hb_args...); }, \
      __VA_ARGS__)

/// Throws where a tensor among the parameters is undefined and is not what or_undefined gave.
#define HB_DEFINED(function, ...)                          \
  if (HB_UNLIKELY(::hb::detail::any_missing(__VA_ARGS__))) \
  ::hb::detail::fail_missing_of(#function, #__VA_ARGS__, __VA_ARGS__)

/// Throws where the tensors among the parameters are undefined or on two devices.
#define HB_ONE_DEVICE(function, ...)                                          \
  HB_DEFINED(function, __VA_ARGS__);                                          \
  if (HB_UNLIKELY(::hb::front::unusual.load(std::memory_order_relaxed) != 0)) \
  ::hb::detail::look_around(#function, __VA_ARGS__)

/// The first line of a function with the parameters `...`.
#define HB_FUNCTION(function, ...)      \
  HB_ONE_DEVICE(function, __VA_ARGS__); \
  HB_WATCHED_FUNCTION(function, __VA_ARGS__)

/// The same for a function whose tensors may be on several devices, or undefined.
#define HB_WATCHED_FUNCTION(function, ...) \
  if (HB_UNLIKELY(::hb::functions_watched())) HB_WATCHED_CALL(false, function, __VA_ARGS__)

/// The first line of a view, copy or factory.
#define HB_OBSERVED(function, ...)   \
  HB_DEFINED(function, __VA_ARGS__); \
  if (HB_UNLIKELY(::hb::everything_watched())) HB_WATCHED_CALL(true, function, __VA_ARGS__)

}  // namespace hb
