#pragma once

#include <halfbridge/tensor.h>

namespace hb {

/// A new contiguous tensor, not initialised, of sizes that were checked.
Tensor empty_contiguous(const DimVector& sizes, ScalarType dtype, const Device& device);

}  // namespace hb
