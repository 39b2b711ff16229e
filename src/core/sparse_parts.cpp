#include "core/sparse_parts.h"

#include <halfbridge/ops/factories.h>

#include "core/autograd_seam.h"
#include "core/devices.h"

namespace hb::sparse {

namespace {
// The same memory without history.
Tensor plain(const Tensor& t) { return Tensor(t.impl().alias(true)); }
}  // namespace

Tensor make(const Tensor& indices, const Tensor& values, DimVector sizes, bool coalesced) {
  int64_t n = 1;
  for (int64_t s : sizes) {
    HB_CHECK(s >= 0, "[sparse_coo_tensor] expected sizes that are not negative, got ", s);
    HB_CHECK(!__builtin_mul_overflow(n, s, &n), "[sparse_coo_tensor] numel: integer multiplication overflow");
  }
  auto held = std::make_unique<SparseParts>(SparseParts{plain(indices), plain(values), coalesced});
  auto storage = StorageImpl::of_sparse(std::move(held), values.device());
  DimVector strides(sizes.size(), 0);
  Tensor out(make_intrusive<TensorImpl>(std::move(storage), values.scalar_type(), std::move(sizes), std::move(strides),
                                        int64_t{0}));
  out.impl().set_deferred();
  return out;
}

Tensor empty(IntArrayRef sizes, int64_t sparse_dim, const TensorOptions& options) {
  for (int64_t s : sizes) HB_CHECK(s >= 0, "[sparse_coo_tensor] expected sizes that are not negative, got ", sizes);
  const TensorOptions plain = TensorOptions().device(detail::device_for(options));
  DimVector shape(1, 0);
  for (size_t d = sparse_dim; d < sizes.size(); ++d) shape.push_back(sizes[d]);
  Tensor out = make(hb::empty({sparse_dim, 0}, plain.dtype(kLong)), hb::empty(shape, plain.dtype(options.dtype())),
                    DimVector(sizes), true);
  if (options.requires_grad()) detail::autograd_seam.set_requires_grad(out);
  return out;
}

Tensor empty_like(const Tensor& self, const TensorOptions& options) {
  return empty(self.sizes(), self.is_sparse() ? sparse_dim(self) : self.dim(), options);
}

void replace(const Tensor& self, const Tensor& source) { self.impl().share_data_of(source.impl()); }

}  // namespace hb::sparse
