#pragma once

#include <vector>

#include <halfbridge/tensor.h>

namespace hb::ops {

/// The elements of x at index[d][…] along its last index.size() dimensions (1 to 3), in one pass; indices lie inside.
/// A channels-last layout stays. `name` is that of the graph's node.
Tensor select_separable(const char* name, const Tensor& x, std::vector<std::vector<int64_t>> index);

}  // namespace hb::ops
