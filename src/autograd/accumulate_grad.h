#pragma once

#include <halfbridge/accumulate_grad.h>

#include "autograd/names.h"

namespace hb {

using autodiff::AccumulateGrad;

/// Adds a gradient that arrived at a leaf to the leaf's sum, which stays where it is in memory unless a graph is
/// recorded. Any number of threads may do so at a time. `destination`: as AccumulateGrad's.
void add_to_leaf(const Tensor& leaf, Tensor gradient, const Tensor& destination = {});
/// Whether one is there, while other threads may add to it.
bool has_gradient(const Tensor& leaf);

/// Whether nobody but the holder of `t` sees what is written to it.
bool unseen(const Tensor& t);

/// Adds `update` to `sum` (which may be undefined); takes over or changes memory that nobody else holds.
void accumulate(Tensor& sum, Tensor update);

}  // namespace hb
