// What the values say of the alignment.
#pragma once

#include <vector>

#include <halfbridge/diff/compare.h>

namespace hb::layer_diff {

/// `layers` are compared rows in their order. A layer whose outputs fail, but agree with those of a later call that
/// stands alone right behind it, does that call's work too: Conv2d with a folded BatchNorm2d. A group that was taken
/// for what a module of unknown type does, and does not give its outputs, does not count.
void refine(const Trace& ref, const Trace& test, std::vector<LayerDiff>& layers, const CompareOptions& options);

}  // namespace hb::layer_diff
