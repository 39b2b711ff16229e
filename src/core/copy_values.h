#pragma once

#include <halfbridge/tensor.h>

namespace hb {

/// Copies values of `src`, which broadcasts to `out`, with conversions between any dtypes, layouts and devices. Neither
/// history nor versions are touched. `non_blocking`: a copy from the host to a device need not be there on return.
HB_API void copy_values(const Tensor& out, const Tensor& src, bool non_blocking = false);

}  // namespace hb
