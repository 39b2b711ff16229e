#pragma once
// c10::Synchronized, LeftRight, scope_exit, overloaded and once_flag.

#include <functional>
#include <mutex>
#include <shared_mutex>
#include <type_traits>
#include <utility>

namespace hb::bridge {
inline namespace api {

/// A value that is reached under its lock alone: value.withLock([](auto& v) { ... }).
template <class T>
class Synchronized final {
 public:
  Synchronized() = default;
  Synchronized(const T& value) : value_(value) {}        // NOLINT: implicit as in LibTorch
  Synchronized(T&& value) : value_(std::move(value)) {}  // NOLINT
  Synchronized(const Synchronized&) = delete;
  Synchronized& operator=(const Synchronized&) = delete;
  template <class F>
  auto withLock(F&& f) {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::forward<F>(f)(value_);
  }
  template <class F>
  auto withLock(F&& f) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::forward<F>(f)(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

/// A value that many threads read and few write: value.read([](const T&) { ... }), value.write([](T&) { ... }). Readers
/// wait for a writer here, as those of LibTorch's RWSafeLeftRightWrapper do.
template <class T>
class LeftRight final {
 public:
  template <class... Args>
  explicit LeftRight(const Args&... args) : value_{args...} {}
  LeftRight(const LeftRight&) = delete;
  LeftRight& operator=(const LeftRight&) = delete;
  template <class F>
  auto read(F&& f) const {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    return std::forward<F>(f)(std::as_const(value_));
  }
  template <class F>
  auto write(F&& f) {
    std::lock_guard<std::shared_mutex> lock(mutex_);
    return std::forward<F>(f)(value_);
  }

 private:
  mutable std::shared_mutex mutex_;
  T value_;
};
template <class T>
using RWSafeLeftRightWrapper = LeftRight<T>;

/// Calls a function at the end of a block, unless it was released.
template <class F>
class scope_exit {
 public:
  template <class G, class = std::enable_if_t<!std::is_same_v<std::decay_t<G>, scope_exit>>>
  explicit scope_exit(G&& f) : f_(std::forward<G>(f)) {}
  scope_exit(scope_exit&& other) noexcept : f_(std::move(other.f_)), engaged_(std::exchange(other.engaged_, false)) {}
  scope_exit& operator=(scope_exit&&) = delete;
  ~scope_exit() {
    if (engaged_) f_();
  }
  void release() { engaged_ = false; }

 private:
  F f_;
  bool engaged_ = true;
};
template <class F>
scope_exit<std::decay_t<F>> make_scope_exit(F&& f) {
  return scope_exit<std::decay_t<F>>(std::forward<F>(f));
}

/// One function object of several: std::visit(c10::overloaded([](int) {}, [](float) {}), variant).
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded<std::decay_t<Fs>...> overloaded(Fs&&... fs) {
  return {std::forward<Fs>(fs)...};
}

using std::call_once;
using std::once_flag;

}  // namespace api
}  // namespace hb::bridge
