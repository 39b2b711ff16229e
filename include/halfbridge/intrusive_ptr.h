#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <halfbridge/macros.h>

namespace hb {

/// Base of what intrusive_ptr counts.
class HB_API intrusive_ptr_target {
 public:
  intrusive_ptr_target() = default;
  intrusive_ptr_target(const intrusive_ptr_target&) = delete;
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) = delete;
  virtual ~intrusive_ptr_target();
  int64_t use_count() const { return count_.load(std::memory_order_relaxed); }

 private:
  template <class T>
  friend class intrusive_ptr;
  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  /// True when the last owner is gone.
  bool release() const {
    // A sole owner cannot race with another: the common case needs no locked instruction.
    if (count_.load(std::memory_order_acquire) == 1) return true;
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// Frees the object; storage overrides it, whose header lies in the block that it owns.
  virtual void destroy() const { delete this; }
  mutable std::atomic<int64_t> count_{0};
};

/// A shared owner whose count lies in the object.
template <class T>
class intrusive_ptr {
 public:
  intrusive_ptr() = default;
  intrusive_ptr(std::nullptr_t) {}  // NOLINT
  explicit intrusive_ptr(T* p) : p_(p) {
    if (p_) p_->intrusive_ptr_target::retain();
  }
  intrusive_ptr(const intrusive_ptr& o) : p_(o.p_) {
    if (p_) p_->intrusive_ptr_target::retain();
  }
  intrusive_ptr(intrusive_ptr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  intrusive_ptr(const intrusive_ptr<U>& o) : intrusive_ptr(o.get()) {}  // NOLINT
  intrusive_ptr& operator=(intrusive_ptr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~intrusive_ptr() { reset(); }
  void reset() {
    T* p = std::exchange(p_, nullptr);
    if (p && p->intrusive_ptr_target::release()) static_cast<const intrusive_ptr_target*>(p)->destroy();
  }
  /// A new object.
  template <class... Args>
  static intrusive_ptr make(Args&&... args) {
    return intrusive_ptr(new T(std::forward<Args>(args)...));
  }
  bool unique() const { return use_count() == 1; }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  bool defined() const { return p_ != nullptr; }
  int64_t use_count() const { return p_ ? p_->intrusive_ptr_target::use_count() : 0; }
  bool operator==(const intrusive_ptr& o) const { return p_ == o.p_; }
  bool operator!=(const intrusive_ptr& o) const { return p_ != o.p_; }

 private:
  T* p_ = nullptr;
};

template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>(new T(std::forward<Args>(args)...));
}

}  // namespace hb
