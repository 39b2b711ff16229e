#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <halfbridge/macros.h>

namespace hb {

namespace detail {
struct WeakRecord;
}

/// Base of what intrusive_ptr counts.
class HB_API intrusive_ptr_target {
 public:
  intrusive_ptr_target() = default;
  intrusive_ptr_target(const intrusive_ptr_target&) = delete;
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) = delete;
  virtual ~intrusive_ptr_target();
  int64_t use_count() const { return count_.load(std::memory_order_relaxed) & ~kObserved; }
  /// The weak pointers, and one for all owners together.
  int64_t weak_use_count() const;

 private:
  template <class T, class Null>
  friend class intrusive_ptr;
  friend struct detail::WeakRecord;
  /// A bit of the count: there are, or were, weak pointers to the object.
  static constexpr int64_t kObserved = int64_t{1} << 62;
  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  /// One owner less; destroys the object when it was the last. Compiled once: a program destroys tensors in many
  /// places.
  void drop() const noexcept;
  /// True when the last owner is gone.
  bool release() const {
    // A sole owner cannot race with another: the common case needs no locked instruction.
    if (count_.load(std::memory_order_acquire) == 1) return true;
    const int64_t before = count_.fetch_sub(1, std::memory_order_acq_rel);
    if (before == (kObserved | 1)) tell_observers();
    return (before & ~kObserved) == 1;
  }
  /// The last owner is gone: from now on weak pointers find nothing.
  void tell_observers() const;
  /// Called before the object is freed if weak pointers are left.
  virtual void release_resources() {}
  /// Frees the object; storage overrides it, whose header lies in the block that it owns.
  virtual void destroy() const { delete this; }
  mutable std::atomic<int64_t> count_{0};
};

/// A shared owner whose count lies in the object. The second parameter, LibTorch's null object, has no effect: null is
/// null.
template <class T, class Null = void>
class intrusive_ptr {
 public:
  intrusive_ptr() = default;
  intrusive_ptr(std::nullptr_t) {}  // NOLINT
  explicit intrusive_ptr(T* p) : p_(p) {
    if (p_) p_->intrusive_ptr_target::retain();
  }
  // A template, for else each call of a constructor with one argument would make the class std::unique_ptr<T>.
  template <class U, class Delete, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  explicit intrusive_ptr(std::unique_ptr<U, Delete> p) : intrusive_ptr(p.release()) {}
  intrusive_ptr(const intrusive_ptr& o) : p_(o.p_) {
    if (p_) p_->intrusive_ptr_target::retain();
  }
  intrusive_ptr(intrusive_ptr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U, class Other, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  intrusive_ptr(const intrusive_ptr<U, Other>& o) : intrusive_ptr(o.get()) {}  // NOLINT
  intrusive_ptr& operator=(intrusive_ptr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~intrusive_ptr() {
    if (p_) p_->intrusive_ptr_target::drop();
  }
  void reset() {
    if (T* p = std::exchange(p_, nullptr)) p->intrusive_ptr_target::drop();
  }
  /// A new object.
  template <class... Args>
  static intrusive_ptr make(Args&&... args) {
    return intrusive_ptr(new T(std::forward<Args>(args)...));
  }
  /// Takes over a count that release() left, or nothing for null.
  static intrusive_ptr reclaim(T* owned) {
    intrusive_ptr result;
    result.p_ = owned;
    return result;
  }
  /// A further owner, or the first of an object that new made.
  static intrusive_ptr reclaim_copy(T* owned) { return intrusive_ptr(owned); }
  static intrusive_ptr unsafe_reclaim_from_nonowning(T* owned) { return intrusive_ptr(owned); }
  static intrusive_ptr unsafe_steal_from_new(T* made) { return intrusive_ptr(made); }
  /// Gives the object and its count away.
  T* release() noexcept { return std::exchange(p_, nullptr); }
  void swap(intrusive_ptr& o) noexcept { std::swap(p_, o.p_); }
  bool unique() const { return use_count() == 1; }
  bool is_uniquely_owned() const { return unique(); }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  bool defined() const { return p_ != nullptr; }
  int64_t use_count() const { return p_ ? p_->intrusive_ptr_target::use_count() : 0; }
  int64_t weak_use_count() const { return p_ ? p_->intrusive_ptr_target::weak_use_count() : 0; }
  bool operator==(const intrusive_ptr& o) const { return p_ == o.p_; }
  bool operator!=(const intrusive_ptr& o) const { return p_ != o.p_; }
  bool operator<(const intrusive_ptr& o) const { return p_ < o.p_; }

 private:
  T* p_ = nullptr;
};

namespace detail {
/// What the weak pointers of one object share; made with the first of them.
HB_API std::shared_ptr<WeakRecord> observe(const intrusive_ptr_target& target);
/// Adds an owner if there is one.
HB_API bool retain_observed(WeakRecord& record);
HB_API int64_t owners_of_observed(const WeakRecord& record);
}  // namespace detail

/// Refers to an object and does not own it. When the last owner is gone the object is destroyed, weak pointers or not
/// (LibTorch keeps an empty object for them). The second parameter, LibTorch's null object, has no effect.
template <class T, class Null = void>
class weak_intrusive_ptr {
 public:
  weak_intrusive_ptr() = default;
  template <class Other>
  explicit weak_intrusive_ptr(const intrusive_ptr<T, Other>& p) : p_(p.get()) {
    if (p_) record_ = detail::observe(*p_);
  }
  template <class U, class Other, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  weak_intrusive_ptr(const weak_intrusive_ptr<U, Other>& o) : p_(o.p_), record_(o.record_) {}  // NOLINT
  /// An owner, or null where the object is gone.
  intrusive_ptr<T, Null> lock() const {
    return intrusive_ptr<T, Null>::reclaim(record_ && detail::retain_observed(*record_) ? p_ : nullptr);
  }
  bool expired() const { return use_count() == 0; }
  int64_t use_count() const { return record_ ? detail::owners_of_observed(*record_) : 0; }
  /// The weak pointers, and one for all owners together.
  int64_t weak_use_count() const { return record_ ? record_.use_count() + (expired() ? 0 : 1) : 0; }
  void reset() {
    p_ = nullptr;
    record_.reset();
  }
  void swap(weak_intrusive_ptr& o) noexcept {
    std::swap(p_, o.p_);
    record_.swap(o.record_);
  }
  /// The object's address, whether it is still there or not.
  T* _unsafe_get_target() const { return p_; }
  bool operator==(const weak_intrusive_ptr& o) const { return record_ == o.record_; }
  bool operator!=(const weak_intrusive_ptr& o) const { return record_ != o.record_; }
  bool operator<(const weak_intrusive_ptr& o) const { return record_ < o.record_; }

 private:
  template <class U, class Other>
  friend class weak_intrusive_ptr;
  T* p_ = nullptr;
  std::shared_ptr<detail::WeakRecord> record_;
};

template <class T, class... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>(new T(std::forward<Args>(args)...));
}

}  // namespace hb

template <class T, class Null>
struct std::hash<hb::intrusive_ptr<T, Null>> {
  size_t operator()(const hb::intrusive_ptr<T, Null>& p) const { return std::hash<T*>()(p.get()); }
};
template <class T, class Null>
struct std::hash<hb::weak_intrusive_ptr<T, Null>> {
  size_t operator()(const hb::weak_intrusive_ptr<T, Null>& p) const { return std::hash<T*>()(p._unsafe_get_target()); }
};
