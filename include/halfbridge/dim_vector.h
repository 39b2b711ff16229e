#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include <halfbridge/array_ref.h>

namespace hb {

/// Sizes or strides: up to six values lie in the object.
class DimVector {
 public:
  static constexpr size_t kInline = 6;
  DimVector() = default;
  explicit DimVector(size_t n, int64_t value = 0) {
    resize(n);
    for (size_t i = 0; i < n; ++i) data_[i] = value;
  }
  DimVector(IntArrayRef v) { assign(v.data(), v.size()); }  // NOLINT
  DimVector(const int64_t* first, const int64_t* last) { assign(first, last - first); }
  DimVector(const DimVector& o) { assign(o.data_, o.size_); }
  DimVector(DimVector&& o) noexcept { take(o); }
  DimVector& operator=(const DimVector& o) {
    if (this != &o) assign(o.data_, o.size_);
    return *this;
  }
  DimVector& operator=(DimVector&& o) noexcept {
    if (this != &o) {
      drop();
      take(o);
    }
    return *this;
  }
  ~DimVector() { drop(); }

  void assign(const int64_t* v, size_t n) {
    resize(n);
    if (n) std::memmove(data_, v, n * sizeof(int64_t));
  }
  void resize(size_t n) {
    if (n > capacity_) {
      const size_t capacity = n * 2;
      auto* bigger = new int64_t[capacity];
      std::memcpy(bigger, data_, size_ * sizeof(int64_t));
      drop();
      data_ = bigger, capacity_ = capacity;
    }
    size_ = n;
  }
  void push_back(int64_t v) {
    resize(size_ + 1);
    data_[size_ - 1] = v;
  }
  void pop_back() { --size_; }
  void insert(size_t at, int64_t v) {
    push_back(v);
    for (size_t i = size_ - 1; i > at; --i) std::swap(data_[i], data_[i - 1]);
  }
  void erase(size_t at) {
    for (size_t i = at; i + 1 < size_; ++i) data_[i] = data_[i + 1];
    --size_;
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return data_; }
  const int64_t* data() const { return data_; }
  int64_t* begin() { return data_; }
  int64_t* end() { return data_ + size_; }
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  int64_t& operator[](size_t i) { return data_[i]; }
  const int64_t& operator[](size_t i) const { return data_[i]; }
  int64_t& back() { return data_[size_ - 1]; }
  const int64_t& back() const { return data_[size_ - 1]; }
  bool operator==(const DimVector& o) const {
    return size_ == o.size_ && std::memcmp(data_, o.data_, size_ * sizeof(int64_t)) == 0;
  }
  bool operator!=(const DimVector& o) const { return !(*this == o); }

 private:
  void drop() {
    if (data_ != inline_) delete[] data_;
    data_ = inline_, capacity_ = kInline;
  }
  void take(DimVector& o) {
    size_ = o.size_;
    if (o.data_ == o.inline_) {
      std::memcpy(inline_, o.inline_, size_ * sizeof(int64_t));
    } else {
      data_ = std::exchange(o.data_, o.inline_);
      capacity_ = std::exchange(o.capacity_, kInline);
    }
    o.size_ = 0;
  }
  int64_t inline_[kInline];
  int64_t* data_ = inline_;
  size_t size_ = 0, capacity_ = kInline;
};

}  // namespace hb
