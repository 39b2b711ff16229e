#pragma once

#include <halfbridge/bridge/optim/optimizer.h>
#include <halfbridge/ops.h>

namespace hb::bridge::optim {

/// What a step takes of a sparse gradient: divided by the scale that the optimizer was told, or undefined where an
/// overflow leaves the step out. Waits for both numbers.
inline Tensor unscaled_sparse(const Optimizer& optimizer, const Tensor& grad) {
  if (optimizer.found_inf().defined() && optimizer.found_inf().item<float>() != 0) return {};
  return optimizer.grad_scale().defined() ? grad / optimizer.grad_scale().item() : grad;
}

}  // namespace hb::bridge::optim
