// Metrics of many pairs of tensors.
#pragma once

#include <vector>

#include <halfbridge/diff/report.h>

namespace hb::layer_diff {

/// Fills metrics and `compared` of every pair that has both tensors and no problem, and histogram and heat map of those
/// that fail (of all with all_histograms). Reads block by block, on all of the engine's threads.
void compare_tensors(const Trace& ref, const Trace& test, const std::vector<TensorDiff*>& pairs, bool all_histograms);

/// Whether two shapes hold the same elements in the same order but for how dimensions are split: sizes of one are left
/// out, or neighbours merged, in one of the two alone.
bool same_layout(const std::vector<int64_t>& a, const std::vector<int64_t>& b);

}  // namespace hb::layer_diff
