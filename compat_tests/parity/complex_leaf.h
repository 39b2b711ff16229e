#pragma once
#include "parity/case.h"

namespace parity {

/// A complex leaf of fixed numbers, whose parts are of `part`.
inline Tensor complex_leaf(Case& c, Shape shape, Dtype part = torch::kFloat) {
  return torch::complex(c.randn(shape, part), c.randn(shape, part)).requires_grad_(true);
}

}  // namespace parity
