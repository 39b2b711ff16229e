#pragma once

#include <vector>

#include <halfbridge/tensor.h>

namespace hb::ops {

/// The elements of x at index[d][…] along its last index.size() dimensions (1 to 3), in one pass; indices lie inside.
/// A channels-last layout stays. `node` is the name of the graph's node: "…Backward0".
Tensor select_separable(const char* node, const Tensor& x, std::vector<std::vector<int64_t>> index);

}  // namespace hb::ops
