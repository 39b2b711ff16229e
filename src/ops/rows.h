#pragma once

#include <halfbridge/ops.h>

#include "core/geometry.h"

namespace hb::ops {

/// The dimension as the last one, contiguous, without history: what kernels of rows read. 0-d becomes (1).
inline Tensor as_rows(const Tensor& self, int64_t dim) {
  const Tensor t = self.detach();
  return t.dim() == 0 ? t.reshape({1}) : t.movedim(dim, -1).contiguous();
}
/// Back to the shape of `self`, contiguous.
inline Tensor from_rows(const Tensor& rows, const Tensor& self, int64_t dim) {
  return self.dim() == 0 ? rows.reshape({}) : rows.movedim(-1, dim).contiguous();
}

}  // namespace hb::ops
