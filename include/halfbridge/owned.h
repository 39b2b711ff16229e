#pragma once

#include <cstddef>

namespace hb::detail {

/// Owns an object, as a unique_ptr does, for members that hide a class's state: a unique_ptr type of each of them would
/// be made of templates in every program that includes the header.
template <class T>
class Owned {
 public:
  Owned() noexcept = default;
  Owned(std::nullptr_t) noexcept {}  // NOLINT: implicit, as a unique_ptr's
  explicit Owned(T* object) noexcept : object_(object) {}
  Owned(Owned&& other) noexcept : object_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    Owned taken(static_cast<Owned&&>(other));
    T* const old = object_;
    object_ = taken.object_;
    taken.object_ = old;
    return *this;
  }
  ~Owned() {
    static_assert(sizeof(T) > 0, "the class must be complete where its owner dies");
    delete object_;
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  void reset() noexcept { *this = Owned(); }
  /// The object, which the caller then owns.
  T* release() noexcept {
    T* const object = object_;
    object_ = nullptr;
    return object;
  }

 private:
  T* object_ = nullptr;
};

}  // namespace hb::detail
