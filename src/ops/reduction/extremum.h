#pragma once

#include <halfbridge/ops.h>

#include "autograd/record.h"

namespace hb::ops {

/// The gradient of a value that was picked out of x: every element that equals the result y has the same share. As in
/// LibTorch a NaN is the result's equal where a `whole` tensor was reduced, and else leaves a row of NaN.
Tensor share_evenly(const Tensor& g, const Tensor& x, const Tensor& y, bool whole);

/// The middle value of all elements, found by along(a vector) -> (value, place); not of the place, but of the value, is
/// the gradient.
template <class Along>
Tensor middle_of_whole(const char* node, const Tensor& self, Along along) {
  Tensor out = std::get<0>(along(self.detach().reshape(-1)));
  if (needs_grad(self))
    record(node, out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [](Backward& b, auto& s) { return variable_list{share_evenly(b.grad(), s[0], s[1], true)}; });
  return out;
}

}  // namespace hb::ops
