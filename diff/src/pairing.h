// From aligned calls and states to pairs of tensors.
#pragma once

#include <vector>

#include <halfbridge/diff/compare.h>

#include "align.h"

namespace hb::layer_diff {

/// The pairs of one row of the alignment, tolerances set, nothing computed.
LayerDiff pair_layer(const Aligned& row, const CompareOptions& options);

/// The pairs of states of one step. `layers` are the step's, for modules that have another name in the test.
std::vector<StateDiff> pair_states(const Trace& ref, const Trace& test, int64_t step, const Naming& naming,
                                   const std::vector<const LayerDiff*>& layers, const CompareOptions& options,
                                   std::vector<std::string>& notes);

/// A pair with its tolerance and what their shapes say. Either may be null.
TensorDiff pair_tensors(const Record* ref, const Record* test, const Tolerance& tolerance);

Tolerance tolerance_of(const CompareOptions& options, const std::string& path, const std::string& type);

}  // namespace hb::layer_diff
