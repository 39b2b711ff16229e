#pragma once
// <ATen/ThreadLocalState.h>: modes that a program's own threads take over from the thread that gives them work.

#include <type_traits>
#include <utility>

#include <halfbridge/autocast.h>
#include <halfbridge/bridge/record_function.h>
#include <halfbridge/grad_mode.h>

namespace hb::bridge {
inline namespace api {

/// Gradient mode, inference mode, autocast (on the CPU and on CUDA) and callbacks of RecordFunction of the thread that
/// makes it.
class HB_API ThreadLocalState {
 public:
  ThreadLocalState();
  void set_grad_mode(bool enabled) { grad_ = enabled; }
  /// Makes this thread's modes those of `state`. Inference mode is left as it is: ThreadLocalStateGuard sets it, too.
  static void setThreadLocalState(const ThreadLocalState& state);
  bool inference_mode() const { return inference_; }

 private:
  struct Autocast {
    bool enabled;
    ScalarType dtype;
  };
  bool grad_, inference_, cache_;
  Autocast cpu_, cuda_;
  RecordFunctionTLS recorded_;
};

/// The modes of `state` on this thread until the end of the scope.
class HB_API ThreadLocalStateGuard {
 public:
  explicit ThreadLocalStateGuard(const ThreadLocalState& state) : inference_(state.inference_mode()) {
    ThreadLocalState::setThreadLocalState(state);
  }
  ~ThreadLocalStateGuard() { ThreadLocalState::setThreadLocalState(previous_); }
  ThreadLocalStateGuard(const ThreadLocalStateGuard&) = delete;
  ThreadLocalStateGuard& operator=(const ThreadLocalStateGuard&) = delete;

 private:
  const ThreadLocalState previous_;
  const InferenceMode inference_;
};

/// The function, to be called on another thread with the modes that this one has now.
template <typename F>
auto wrapPropagateTLSState(F function) {
  return [state = ThreadLocalState(), function = std::move(function)](auto&&... args) {
    const ThreadLocalStateGuard guard(state);
    return function(std::forward<decltype(args)>(args)...);
  };
}

}  // namespace api
}  // namespace hb::bridge
