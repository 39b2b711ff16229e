#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <type_traits>
#include <vector>

#include <halfbridge/error.h>

namespace hb {

/// A view of consecutive values that it does not own; as LibTorch's, it accepts vectors, arrays, lists and one value.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}  // NOLINT
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(end - begin) {}
  template <class A>
  ArrayRef(const std::vector<T, A>& v) : data_(v.data()), size_(v.size()) {  // NOLINT
    static_assert(!std::is_same_v<T, bool>, "vector<bool> has no storage to refer to");
  }
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& a) : data_(a.data()), size_(N) {}  // NOLINT
  template <size_t N>
  constexpr ArrayRef(const T (&a)[N]) : data_(a), size_(N) {}  // NOLINT
  // The list outlives the full expression in which it is passed, as the callers of LibTorch use it.
#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  constexpr ArrayRef(const std::initializer_list<T>& l)  // NOLINT
      : data_(l.size() ? l.begin() : nullptr), size_(l.size()) {}
#ifndef __clang__
#pragma GCC diagnostic pop
#endif
  template <class C, class = std::enable_if_t<
                         std::is_same_v<std::remove_const_t<decltype(std::declval<const C&>().data())>, T*> ||
                         std::is_same_v<decltype(std::declval<const C&>().data()), const T*>>>
  ArrayRef(const C& c) : data_(c.data()), size_(c.size()) {}  // NOLINT

  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  std::reverse_iterator<const T*> rbegin() const { return std::reverse_iterator<const T*>(end()); }
  std::reverse_iterator<const T*> rend() const { return std::reverse_iterator<const T*>(begin()); }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const {
    HB_CHECK_INDEX(i < size_, "ArrayRef: index ", i, " is out of range for length ", size_);
    return data_[i];
  }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  ArrayRef slice(size_t from, size_t count) const {
    HB_CHECK(from <= size_ && count <= size_ - from, "ArrayRef: invalid slice, N = ", from, "; M = ", count,
             "; size = ", size_);
    return {data_ + from, count};
  }
  ArrayRef slice(size_t from) const {
    HB_CHECK(from <= size_, "ArrayRef: invalid slice, N = ", from, "; size = ", size_);
    return {data_ + from, size_ - from};
  }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i)
      if (!(data_[i] == other.data_[i])) return false;
    return true;
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !a.equals(b);
}
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator!=(const std::vector<T>& a, ArrayRef<T> b) {
  return !ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(b);
}
template <class T>
bool operator!=(ArrayRef<T> a, const std::vector<T>& b) {
  return !a.equals(b);
}
template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list) {
  out << "[";
  for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
  return out << "]";
}

using IntArrayRef = ArrayRef<int64_t>;

/// An ArrayRef or nothing; unlike optional<ArrayRef> it takes a braced list.
template <class T>
class OptionalArrayRef {
 public:
  using List = ArrayRef<T>;
  OptionalArrayRef() = default;
  OptionalArrayRef(std::nullopt_t) {}                                      // NOLINT
  OptionalArrayRef(List list) : list_(list) {}                             // NOLINT
  OptionalArrayRef(const std::vector<T>& v) : list_(v) {}                  // NOLINT
  OptionalArrayRef(const std::initializer_list<T>& l) : list_(List(l)) {}  // NOLINT
  OptionalArrayRef(const T& one) : list_(List(one)) {}                     // NOLINT
  OptionalArrayRef(const std::optional<List>& o) : list_(o) {}             // NOLINT
  bool has_value() const { return list_.has_value(); }
  explicit operator bool() const { return has_value(); }
  const List& value() const { return list_.value(); }
  List value_or(List other) const { return list_.value_or(other); }
  const List& operator*() const { return *list_; }
  const List* operator->() const { return &*list_; }
  void reset() { list_.reset(); }
  friend bool operator==(const OptionalArrayRef& a, const OptionalArrayRef& b) { return a.list_ == b.list_; }
  friend bool operator!=(const OptionalArrayRef& a, const OptionalArrayRef& b) { return !(a == b); }

 private:
  std::optional<List> list_;
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

}  // namespace hb
