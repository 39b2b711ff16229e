#pragma once
// Reductions of complex tensors that have no loop: they are made of public functions, which have gradients.

#include <halfbridge/tensor.h>

namespace hb::ops {

/// Reduces all elements, or along one dimension.
Tensor complex_prod(const Tensor& self, std::optional<int64_t> dim, bool keepdim);
Tensor complex_logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim);

}  // namespace hb::ops
