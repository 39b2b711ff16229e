// The parts of the text.
#pragma once

#include <string>

#include <halfbridge/diff/output.h>

namespace hb::layer_diff {

/// The table of layers, a heading per step where there are several.
std::string layer_table(const Report& report, const TextOptions& options);
/// Parameters, gradients and states: a line per kind, a table of those that fail.
std::string state_table(const Report& report, const TextOptions& options);
/// Calls that were inserted, fused or renamed.
std::string structure(const Report& report, const TextOptions& options);
/// The first divergence forward and backward, tensor by tensor, with what was found of its cause.
std::string divergences(const Report& report, const TextOptions& options);

}  // namespace hb::layer_diff
