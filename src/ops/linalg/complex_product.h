#pragma once

#include <halfbridge/tensor.h>

namespace hb::ops {

/// a (..., m, k) times b (..., k, n), both complex and of one dtype, by one product of real matrices; has its gradient.
/// `a` may be (..., k) where b is one matrix.
Tensor complex_product(const Tensor& a, const Tensor& b);

/// a (m, k) times x (k), the same way.
Tensor complex_mv(const Tensor& a, const Tensor& x);

}  // namespace hb::ops
