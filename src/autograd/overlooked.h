#pragma once
// In-place writes that autograd does not hold against the program: LibTorch's SGD and clip_grad_norm_ write through
// tensor.data(), whose version no one looks at. What keeps values of tensors (half copies of weights, traces) sees them
// still, in TensorImpl::version().

#include <halfbridge/tensor.h>

namespace hb {

/// The version that autograd and programs see.
HB_API uint32_t seen_version(const TensorImpl& t);
/// Overlooks the changes of t's version since it was `version`.
HB_API void overlook_writes_since(const Tensor& t, uint32_t version);

}  // namespace hb
