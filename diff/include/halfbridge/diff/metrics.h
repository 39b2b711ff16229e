// Errors of one tensor against another.
#pragma once

#include <halfbridge/diff/report.h>

namespace hb::layer_diff {

/// Compares tensors in memory, of one number of elements, in the order of their indices. Throws hb::Error where the
/// numbers differ.
Metrics metrics_of(const Tensor& ref, const Tensor& test, const Tolerance& tolerance = {});

}  // namespace hb::layer_diff
