// Parameters and buffers of a module among what a function was given: a trace without modules (docs/capture.md) has
// them as inputs of calls.
#pragma once

#include <halfbridge/diff/report.h>

namespace hb::layer_diff {

/// Fills `operands` of layers where one side is a function and the other a module that has no counterpart of its
/// own.
void find_operands(const Trace& ref, const Trace& test, LayerDiff& layer);

}  // namespace hb::layer_diff
