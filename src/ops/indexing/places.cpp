// Elements by the indices of several dimensions, without a tensor of their places.
#include "autograd/record.h"
#include "core/empty_contiguous.h"
#include "ops/indexing/index_op.h"
#include "ops/reduction/reduce_op.h"

namespace hb::ops {

bool picks_places(const Tensor& self, const std::vector<Tensor>& indices) {
  if (needs_grad(self) || self.layout() != kStrided || !select_places_kernel.available(self.device())) return false;
  if (indices.empty() || indices.size() > IndexedSizes::kMost) return false;
  for (const Tensor& t : indices)
    if (t.numel() == 0 || t.sizes() != indices[0].sizes() || !t.is_contiguous()) return false;
  return true;
}

Tensor pick_places(const char* name, const Tensor& flat, int64_t dim, const std::vector<Tensor>& indices,
                   const IndexedSizes& of) {
  const Tensor x = flat.detach().contiguous();
  DimVector sizes = x.impl().sizes();
  sizes[dim] = indices[0].numel();
  Tensor out = empty_contiguous(sizes, x.scalar_type(), x.device());
  const auto given = [&](size_t k) { return k < indices.size() ? indices[k] : Tensor(); };
  select_places_kernel(x.device())(name, out, x, given(0), given(1), given(2), of, lines_of(x, dim));
  return out;
}

}  // namespace hb::ops
