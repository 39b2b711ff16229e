#pragma once

#include <vector>

#include <halfbridge/diff/report.h>

namespace hb::layer_diff {

/// Gradients are as small as the loss is flat, and the moments of optimizers are smaller still: an absolute tolerance
/// meant for values would let any of them pass. For records of gradients and of optimizers' states, atol becomes
/// atol * s, where s is the largest |element| of the reference's tensor, but at least 1 % of the largest in any tensor
/// of its kind (what is smaller is the rounding of sums that cancel), and at most 1.
void scale_gradient_tolerances(const Trace& ref, const std::vector<TensorDiff*>& pairs);

}  // namespace hb::layer_diff
