#pragma once
// Functions that compose others have a node of their own name.

#include "autograd/names.h"

namespace hb {

/// `result` with a node called `name` in the place of its last one, whose work that does. It is returned as it is where
/// it has no history, shares memory with `self`, an input, or somebody watches the graph (watchers know nodes one by
/// one).
Tensor named(const char* name, Tensor result, const Tensor& self);

}  // namespace hb
