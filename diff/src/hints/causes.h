// Causes that are not in a layer: in what it is given, in gradients, in the optimizer's step.
#pragma once

#include <vector>

#include <halfbridge/diff/report.h>

#include "../replay/split.h"

namespace hb::layer_diff::hints {

/// Why the inputs of a layer differ where nothing before it does: preprocessing, an activation missing or doubled, a
/// tensor that another layer changed in place.
std::vector<Hint> causes_of_inputs(const Report& report, const LayerDiff& layer);
/// Why gradients of the outputs differ where the backward pass begins.
std::vector<Hint> causes_of_gradients(const Report& report, const LayerDiff& layer);
/// How a gradient follows from what the reference's layer gives.
std::vector<Hint> causes_of_gradient(const replay::Pair& pair, const replay::Chosen& chosen);

/// Fills in the hints of the states that differ: gradients of parameters, running statistics, the optimizer's step.
void explain_states(Report& report);

}  // namespace hb::layer_diff::hints
