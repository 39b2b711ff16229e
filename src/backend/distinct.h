#pragma once

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// Runs of equal neighbours in a line: `values` gets the first of each, `counts` their lengths, `inverse` for each
/// element the number of its run; all have the length of `in`, and the last two may be absent. Returns the number of
/// runs.
HB_API inline Kernel<int64_t(const Tensor& values, const Tensor& inverse, const Tensor& counts, const Tensor& in)>
    distinct_kernel{"unique_consecutive"};

/// The lexicographic order of contiguous rows (n, m): the places (n) of the first, the second, …; equal rows keep
/// theirs, NaN stands above every number.
HB_API inline Kernel<void(const Tensor& places, const Tensor& rows)> row_order_kernel{"unique_dim"};

}  // namespace hb
