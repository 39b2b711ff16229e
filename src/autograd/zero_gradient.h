#pragma once
// Gradients that are zero whatever comes in, such as the second one of a function that is linear piece by piece.

#include "autograd/names.h"

namespace hb::autodiff {

/// What a formula returns in place of a gradient that is zero. The pass computes nothing with it: a tensor whose
/// gradient somebody wants, which no other gradient reaches, gets zeros.
const Tensor& zero_gradient();
bool is_zero_gradient(const Tensor& grad);
/// Makes zeros of it in what a node returned, for those who look at that.
void show_zeros(const Node& node, variable_list& out);

}  // namespace hb::autodiff
