#pragma once
// c10::MaybeOwned: a value, or a reference to one that lives elsewhere.

#include <utility>
#include <variant>

#include <halfbridge/error.h>

namespace hb {

/// Either owns a T or borrows one, which must outlive it.
template <class T>
class MaybeOwned {
 public:
  /// Borrows nothing: to be assigned to.
  MaybeOwned() = default;
  static MaybeOwned borrowed(const T& value) { return MaybeOwned(Content(std::in_place_index<0>, &value)); }
  static MaybeOwned owned(T&& value) { return MaybeOwned(Content(std::in_place_index<1>, std::move(value))); }
  template <class... Args>
  static MaybeOwned owned(std::in_place_t, Args&&... args) {
    return MaybeOwned(Content(std::in_place_index<1>, std::forward<Args>(args)...));
  }

  bool unsafeIsBorrowed() const { return content_.index() == 0; }
  const T& operator*() const& {
    if (const T* own = std::get_if<1>(&content_)) return *own;
    const T* other = std::get<0>(content_);
    HB_CHECK(other, "[MaybeOwned] expected a value, got an empty MaybeOwned");
    return *other;
  }
  /// The value itself where it is owned, else a copy of the borrowed one.
  T operator*() && {
    if (T* own = std::get_if<1>(&content_)) return std::move(*own);
    return *static_cast<const MaybeOwned&>(*this);
  }
  const T* operator->() const { return &**this; }

 private:
  using Content = std::variant<const T*, T>;
  explicit MaybeOwned(Content&& content) : content_(std::move(content)) {}
  Content content_ = static_cast<const T*>(nullptr);
};

}  // namespace hb
