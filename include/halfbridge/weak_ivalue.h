#pragma once

#include <functional>

#include <halfbridge/ivalue.h>

namespace hb {

/// A value that keeps nothing alive. What is no object is held as it is.
class HB_API WeakIValue {
 public:
  WeakIValue() : WeakIValue(IValue()) {}
  WeakIValue(const IValue& value);  // NOLINT: implicit as in LibTorch
  /// The value; None where the object is gone.
  IValue lock() const { return lock_(); }
  /// Owners of the object.
  size_t use_count() const noexcept;
  bool isSameIdentity(const WeakIValue& other) const { return address_ && address_ == other.address_; }
  size_t hash() const { return std::hash<const void*>()(address_); }

 private:
  std::function<IValue()> lock_;
  const void* address_ = nullptr;
};

}  // namespace hb
