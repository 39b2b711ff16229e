#pragma once

#include <halfbridge/ops.h>

namespace hb::ops {

/// What a loss does with its values at the end.
inline Tensor reduce_loss(const Tensor& values, int64_t reduction) {
  switch (reduction) {
    case loss_reduction::Mean:
      return values.mean();
    case loss_reduction::Sum:
      return values.sum();
    default:
      return values;
  }
}

}  // namespace hb::ops
