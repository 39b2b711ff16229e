#pragma once

#include <halfbridge/tensor.h>

namespace hb::ops {

// Transforms multiplied by `scale`, with their gradients; dimensions are not negative. Operands are floats or doubles.

/// Complex to complex over several dimensions.
Tensor fft_c2c(const Tensor& self, const DimVector& dims, double scale, bool forward);
/// Real, forward, to the first n / 2 + 1 elements of the spectrum along `dim`.
Tensor fft_r2c(const Tensor& self, int64_t dim, double scale);
/// The backward transform of those n / 2 + 1 elements to n real ones.
Tensor fft_c2r(const Tensor& self, int64_t dim, int64_t n, double scale);

}  // namespace hb::ops
