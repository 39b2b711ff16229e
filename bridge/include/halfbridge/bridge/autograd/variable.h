#pragma once

#include <halfbridge/tensor.h>

namespace hb::autodiff {

/// The values of `data` as a leaf, as programs wrote before tensors and variables were one.
inline Tensor make_variable(const Tensor& data, bool requires_grad = false, bool /*allow_metadata_change*/ = true) {
  return data.defined() ? data.detach().requires_grad_(requires_grad) : Tensor();
}

}  // namespace hb::autodiff
