#pragma once
// c10::SmallVector: a vector whose first elements lie in the object itself.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <ostream>
#include <type_traits>
#include <utility>

#include <halfbridge/array_ref.h>

namespace hb::bridge {
inline namespace api {

/// A SmallVector without its number of inline elements: what functions take by reference.
template <class T>
class SmallVectorImpl {
  static_assert(alignof(T) <= alignof(std::max_align_t), "SmallVector does not hold over-aligned types");

 public:
  using value_type = T;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  SmallVectorImpl(const SmallVectorImpl&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  iterator begin() { return data_; }
  iterator end() { return data_ + size_; }
  const_iterator begin() const { return data_; }
  const_iterator end() const { return data_ + size_; }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& at(size_t i) { return checked(i), data_[i]; }
  const T& at(size_t i) const { return checked(i), data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void reserve(size_t n) {
    if (n > capacity_) grow(n);
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    // The value is made first: an argument may refer to an element that growing moves.
    T value(std::forward<Args>(args)...);
    if (size_ == capacity_) grow(size_ + 1);
    return *new (data_ + size_++) T(std::move(value));
  }
  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  void pop_back() { data_[--size_].~T(); }
  T pop_back_val() {
    T value = std::move(back());
    pop_back();
    return value;
  }
  void truncate(size_t n) {
    while (size_ > n) pop_back();
  }
  void pop_back_n(size_t n) { truncate(size_ - n); }
  void clear() { truncate(0); }
  void resize(size_t n) {
    truncate(n);
    reserve(n);
    for (; size_ < n; ++size_) new (data_ + size_) T();
  }
  void resize(size_t n, const T& value) {
    truncate(n);
    if (n > size_) append(n - size_, value);
  }
  void append(size_t n, const T& value) {
    const T kept = value;
    reserve(size_ + n);
    for (; n > 0; --n) emplace_back(kept);
  }
  template <class It, class = typename std::iterator_traits<It>::iterator_category>
  void append(It first, It last) {
    for (; first != last; ++first) emplace_back(*first);
  }
  void append(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  void append(const SmallVectorImpl& values) { append(values.begin(), values.end()); }
  void assign(size_t n, const T& value) {
    const T kept = value;
    clear();
    append(n, kept);
  }
  template <class It, class = typename std::iterator_traits<It>::iterator_category>
  void assign(It first, It last) {
    clear();
    append(first, last);
  }
  void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }

  iterator erase(const_iterator at) { return erase(at, at + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    iterator to = begin() + (first - begin());
    if (first == last) return to;
    std::move(begin() + (last - begin()), end(), to);
    truncate(size_ - (last - first));
    return to;
  }
  iterator insert(const_iterator at, T value) {
    const std::ptrdiff_t position = at - begin();
    emplace_back(std::move(value));
    std::rotate(begin() + position, end() - 1, end());
    return begin() + position;
  }
  iterator insert(const_iterator at, size_t n, const T& value) {
    const std::ptrdiff_t position = at - begin(), before = size_;
    append(n, value);
    std::rotate(begin() + position, begin() + before, end());
    return begin() + position;
  }
  /// The range may not be a part of this vector.
  template <class It, class = typename std::iterator_traits<It>::iterator_category>
  iterator insert(const_iterator at, It first, It last) {
    const std::ptrdiff_t position = at - begin(), before = size_;
    append(first, last);
    std::rotate(begin() + position, begin() + before, end());
    return begin() + position;
  }
  iterator insert(const_iterator at, std::initializer_list<T> values) {
    return insert(at, values.begin(), values.end());
  }

  SmallVectorImpl& operator=(const SmallVectorImpl& o) {
    if (this != &o) assign(o.begin(), o.end());
    return *this;
  }
  SmallVectorImpl& operator=(SmallVectorImpl&& o) {
    if (this == &o) return *this;
    clear();
    take(o);
    return *this;
  }
  void swap(SmallVectorImpl& o) {
    if (this == &o) return;
    if (!is_small() && !o.is_small()) {
      std::swap(data_, o.data_), std::swap(size_, o.size_), std::swap(capacity_, o.capacity_);
      return;
    }
    reserve(o.size_), o.reserve(size_);
    const size_t common = std::min(size_, o.size_);
    std::swap_ranges(begin(), begin() + common, o.begin());
    SmallVectorImpl& longer = size_ > o.size_ ? *this : o;
    SmallVectorImpl& shorter = size_ > o.size_ ? o : *this;
    shorter.append(std::make_move_iterator(longer.begin() + common), std::make_move_iterator(longer.end()));
    longer.truncate(common);
  }
  bool operator==(const SmallVectorImpl& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }
  bool operator!=(const SmallVectorImpl& o) const { return !(*this == o); }
  bool operator<(const SmallVectorImpl& o) const {
    return std::lexicographical_compare(begin(), end(), o.begin(), o.end());
  }

 protected:
  SmallVectorImpl(T* inline_data, size_t inline_capacity)
      : data_(inline_data), inline_(inline_data), capacity_(inline_capacity) {}
  ~SmallVectorImpl() {
    clear();
    release();
  }
  // The other's elements: its block where it has one. This vector is empty.
  void take(SmallVectorImpl& o) {
    if (o.is_small()) {
      append(std::make_move_iterator(o.begin()), std::make_move_iterator(o.end()));
      o.clear();
      return;
    }
    release();
    data_ = std::exchange(o.data_, o.inline_);
    size_ = std::exchange(o.size_, 0);
    capacity_ = std::exchange(o.capacity_, 0);
  }

 private:
  bool is_small() const { return data_ == inline_; }
  void release() {
    if (!is_small()) ::operator delete(data_);
  }
  void checked(size_t i) const {
    HB_CHECK_INDEX(i < size_, "SmallVector: index ", i, " is out of range for length ", size_);
  }
  void grow(size_t at_least) {
    const size_t capacity = std::max(at_least, capacity_ * 2);
    T* block = static_cast<T*>(::operator new(capacity * sizeof(T)));
    std::uninitialized_move(begin(), end(), block);
    std::destroy(begin(), end());
    release();
    data_ = block;
    capacity_ = capacity;
  }

  T* data_;
  T* inline_;
  size_t size_ = 0, capacity_;
};

namespace small_vector {
// As many as fit into an object of 64 bytes, but one at least.
template <class T>
constexpr size_t default_inline_elements() {
  constexpr size_t header = sizeof(SmallVectorImpl<T>);
  return sizeof(T) < 64 - header ? (64 - header) / sizeof(T) : 1;
}
template <class T, size_t N>
struct SmallVectorStorage {
  alignas(T) unsigned char bytes[N * sizeof(T)];
  T* elements() { return reinterpret_cast<T*>(bytes); }
};
template <class T>
struct SmallVectorStorage<T, 0> {
  T* elements() { return nullptr; }
};
}  // namespace small_vector

/// A vector that allocates only when it grows beyond `N` elements.
template <class T, unsigned N = small_vector::default_inline_elements<T>()>
class SmallVector : private small_vector::SmallVectorStorage<T, N>, public SmallVectorImpl<T> {
  using Storage = small_vector::SmallVectorStorage<T, N>;
  using Impl = SmallVectorImpl<T>;
  template <class C>
  using IfContainer = std::enable_if_t<!std::is_base_of_v<Impl, std::decay_t<C>> &&
                                       std::is_convertible_v<decltype(*std::begin(std::declval<const C&>())), T>>;

 public:
  SmallVector() : Impl(Storage::elements(), N) {}
  explicit SmallVector(size_t n, const T& value = T()) : SmallVector() { this->assign(n, value); }
  template <class It, class = typename std::iterator_traits<It>::iterator_category>
  SmallVector(It first, It last) : SmallVector() {
    this->append(first, last);
  }
  SmallVector(std::initializer_list<T> values) : SmallVector() { this->append(values); }
  template <class C, class = IfContainer<C>>
  explicit SmallVector(const C& values) : SmallVector() {
    this->append(std::begin(values), std::end(values));
  }
  SmallVector(const SmallVector& o) : SmallVector() { this->append(o); }
  SmallVector(SmallVector&& o) : SmallVector() { this->take(o); }
  explicit SmallVector(Impl&& o) : SmallVector() { this->take(o); }

  SmallVector& operator=(const SmallVector& o) { return Impl::operator=(o), *this; }
  SmallVector& operator=(SmallVector&& o) { return Impl::operator=(std::move(o)), *this; }
  SmallVector& operator=(Impl&& o) { return Impl::operator=(std::move(o)), *this; }
  SmallVector& operator=(std::initializer_list<T> values) { return this->assign(values), *this; }
  template <class C, class = IfContainer<C>>
  SmallVector& operator=(const C& values) {
    return this->assign(std::begin(values), std::end(values)), *this;
  }
};

template <class T, unsigned N>
std::ostream& operator<<(std::ostream& out, const SmallVector<T, N>& values) {
  return out << ArrayRef<T>(values.data(), values.size());
}

/// An ArrayRef of one value, of a container, or of so many values from a pointer on.
template <class T>
ArrayRef<T> makeArrayRef(const T& one) {
  return one;
}
template <class T>
ArrayRef<T> makeArrayRef(const T* data, size_t size) {
  return {data, size};
}
template <class T>
ArrayRef<T> makeArrayRef(const std::vector<T>& values) {
  return values;
}
template <class T, unsigned N>
ArrayRef<T> makeArrayRef(const SmallVector<T, N>& values) {
  return values;
}

}  // namespace api
}  // namespace hb::bridge
