#pragma once
// In-place writes that autograd does not hold against the program: LibTorch's SGD and clip_grad_norm_ write through
// tensor.data(), whose version no one looks at. What keeps values of tensors (half copies of weights, traces) sees them
// still, in TensorImpl::version().

#include <utility>

#include <halfbridge/tensor.h>

namespace hb {

/// While it lives, writes to t are overlooked.
class OverlookedWrites {
 public:
  explicit OverlookedWrites(Tensor t) : tensor_(std::move(t)), version_(tensor_.impl().version()) {}
  ~OverlookedWrites() {
    if (tensor_.defined()) tensor_.impl().overlook_writes(tensor_.impl().version() - version_);
  }
  OverlookedWrites(OverlookedWrites&&) = default;

 private:
  Tensor tensor_;  // undefined once moved from
  uint32_t version_;
};

}  // namespace hb
