#pragma once

#include <atomic>
#include <memory>

#include <halfbridge/autograd.h>

namespace hb {

namespace detail {
/// Points at the tensor while that lives.
std::shared_ptr<TensorImpl*> slot_of(const Tensor& tensor);
}  // namespace detail

/// Remembers which tensor it was made of without keeping it: another may come to have its address.
class WeakTensor {
 public:
  WeakTensor() = default;
  explicit WeakTensor(const Tensor& tensor) : slot_(detail::slot_of(tensor)) {}
  /// Null once the tensor is gone. A hook that retain_grad() once left may keep the slot, which is empty then.
  TensorImpl* get() const {
    const auto slot = slot_.lock();
    return slot ? std::atomic_ref(*slot).load(std::memory_order_acquire) : nullptr;
  }
  bool is_gone() const { return get() == nullptr; }

 private:
  std::weak_ptr<TensorImpl*> slot_;
};

}  // namespace hb
