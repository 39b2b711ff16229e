#pragma once

#include <halfbridge/tensor.h>

namespace hb::ops {

// Transforms multiplied by `scale`, with their gradients; dimensions are not negative. Operands are floats or doubles.

/// In what order a transform of `dims` of self lies in memory, outermost dimension first: the dimensions of `dims`, by
/// their strides, lie inside the others. one_sided: the last of `dims` lies innermost whatever its stride is.
DimVector fft_order(const Tensor& self, const DimVector& dims, bool one_sided);
/// Complex to complex over several dimensions; the result lies in `order` (empty: as fft_order says).
Tensor fft_c2c(const Tensor& self, const DimVector& dims, double scale, bool forward, DimVector order = {});
/// Real, forward, to the first n / 2 + 1 elements of the spectrum along `dim`.
Tensor fft_r2c(const Tensor& self, int64_t dim, double scale);
/// The backward transform of those n / 2 + 1 elements to n real ones.
Tensor fft_c2r(const Tensor& self, int64_t dim, int64_t n, double scale);

}  // namespace hb::ops
