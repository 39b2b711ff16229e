#pragma once

#include <memory>

#include <halfbridge/autograd.h>

namespace hb {

/// Remembers which tensor it was made of without keeping it: another may come to have its address.
class WeakTensor {
 public:
  WeakTensor() = default;
  explicit WeakTensor(const Tensor& tensor) {
    auto& slot = tensor.impl().materialize_autograd_meta().retain_slot;
    if (!slot) slot = std::make_shared<TensorImpl*>(&tensor.impl());
    slot_ = slot;
  }
  /// Null once the tensor is gone. A hook that retain_grad() once left may keep the slot, which is empty then.
  TensorImpl* get() const {
    const auto slot = slot_.lock();
    return slot ? *slot : nullptr;
  }
  bool is_gone() const { return get() == nullptr; }

 private:
  std::weak_ptr<TensorImpl*> slot_;
};

}  // namespace hb
