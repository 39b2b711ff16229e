#pragma once
// Handles that lend a tensor to a call: OptionalTensorRef, TensorRef and ExclusivelyOwned.

#include <utility>

#include <halfbridge/error.h>
#include <halfbridge/tensor.h>

namespace hb::bridge {
inline namespace api {

/// A tensor that must be defined, or none.
class OptionalTensorRef {
 public:
  OptionalTensorRef() = default;
  OptionalTensorRef(const Tensor& given) : ref_(given) {
    HB_CHECK(given.defined(), "expected a tensor that is defined");
  }
  bool has_value() const { return ref_.defined(); }
  const Tensor& getTensorRef() const& { return ref_; }
  const Tensor& operator*() const& { return ref_; }
  const Tensor* operator->() const& { return &ref_; }
  operator bool() const { return ref_.defined(); }

 private:
  Tensor ref_;
};

/// A tensor, defined or not.
class TensorRef {
 public:
  TensorRef(const Tensor& given) : ref_(given) {}
  const Tensor& operator*() const& { return ref_; }

 private:
  Tensor ref_;
};

/// A value that has one owner; take() gives it away.
template <typename T>
class ExclusivelyOwned {
 public:
  ExclusivelyOwned() = default;
  explicit ExclusivelyOwned(T&& given) : value_(std::move(given)) {}
  template <class... Args>
  explicit ExclusivelyOwned(std::in_place_t /*in place*/, Args&&... args) : value_(std::forward<Args>(args)...) {}
  ExclusivelyOwned(const ExclusivelyOwned&) = delete;
  ExclusivelyOwned& operator=(const ExclusivelyOwned&) = delete;
  ExclusivelyOwned(ExclusivelyOwned&&) noexcept = default;
  ExclusivelyOwned& operator=(ExclusivelyOwned&&) noexcept = default;
  ExclusivelyOwned& operator=(T&& given) {
    value_ = std::move(given);
    return *this;
  }
  explicit operator bool() const noexcept { return static_cast<bool>(value_.defined()); }
  T* get() { return &value_; }
  const T* get() const { return &value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T take() && { return std::move(value_); }

 private:
  T value_;
};

}  // namespace api
}  // namespace hb::bridge
