#pragma once
// Tensors in another order of dimensions or in memory of their own, for the CPU's kernels, which stand below the
// functions that do this with history.

#include <halfbridge/ops/factories.h>

#include "core/copy_values.h"

namespace hb::cpu {

/// A view with dimension order[d] of `t` as dimension d; without history.
inline Tensor permuted(const Tensor& t, const DimVector& order) {
  const DimVector sizes = t.impl().sizes(), strides = t.impl().strides();
  DimVector to_sizes(sizes.size()), to_strides(sizes.size());
  for (size_t d = 0; d < order.size(); ++d) to_sizes[d] = sizes[order[d]], to_strides[d] = strides[order[d]];
  return Tensor(make_intrusive<TensorImpl>(t.impl().storage(), t.scalar_type(), std::move(to_sizes),
                                           std::move(to_strides), t.impl().offset()));
}

/// `t` itself where it is contiguous, else a contiguous copy.
inline Tensor packed(const Tensor& t) {
  if (t.is_contiguous()) return t;
  Tensor out = empty(t.sizes(), TensorOptions().dtype(t.scalar_type()).device(t.device()));
  copy_values(out, t);
  return out;
}

}  // namespace hb::cpu
