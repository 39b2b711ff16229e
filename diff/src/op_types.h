// One name for what a module, a function of PyTorch and an operator of its dispatcher call differently.
#pragma once

#include <string>
#include <vector>

namespace hb::layer_diff {

/// `conv` for Conv2d, conv2d, aten::convolution, mkldnn_convolution; empty for a type that is no such operation: a
/// module that somebody wrote, or none.
std::string canonical_type(const std::string& type);

/// Whether the operation `one` may have been written as `parts`, in this order.
bool composes(const std::string& one, const std::vector<std::string>& parts);

/// Operations that give their input back where the model is in eval mode.
bool is_identity_like(const std::string& canonical);

}  // namespace hb::layer_diff
