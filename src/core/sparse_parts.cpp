#include "core/sparse_parts.h"

#include <halfbridge/ops/factories.h>

#include "backend/elementwise.h"
#include "core/autograd_seam.h"
#include "core/devices.h"

namespace hb::sparse {

namespace {
// The same memory without history.
Tensor plain(const Tensor& t) { return Tensor(t.impl().alias(true)); }

Tensor hold(SparseParts parts, DimVector sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) {
    HB_CHECK(s >= 0, "[sparse_coo_tensor] expected sizes that are not negative, got ", s);
    HB_CHECK(!__builtin_mul_overflow(n, s, &n), "[sparse_coo_tensor] numel: integer multiplication overflow");
  }
  const ScalarType dtype = parts.values.scalar_type();
  const Device device = parts.values.device();
  auto storage = StorageImpl::of_sparse(std::make_unique<SparseParts>(std::move(parts)), device);
  DimVector strides(sizes.size(), 0);
  Tensor out(make_intrusive<TensorImpl>(std::move(storage), dtype, std::move(sizes), std::move(strides), int64_t{0}));
  out.impl().set_deferred();
  return out;
}
}  // namespace

Tensor make(const Tensor& indices, const Tensor& values, DimVector sizes, bool coalesced) {
  return hold({plain(indices), plain(values), coalesced, kSparse, {}}, std::move(sizes));
}

Tensor make_compressed(Layout layout, const Tensor& compressed, const Tensor& indices, const Tensor& values,
                       DimVector sizes) {
  return hold({plain(indices), plain(values), true, layout, plain(compressed)}, std::move(sizes));
}

namespace {
Tensor empty_coordinates(IntArrayRef sizes, int64_t sparse_dim, const TensorOptions& of_indices,
                         const TensorOptions& of_values) {
  DimVector shape(1, 0);
  for (size_t d = sparse_dim; d < sizes.size(); ++d) shape.push_back(sizes[d]);
  return make(hb::empty({sparse_dim, 0}, of_indices), hb::empty(shape, of_values), DimVector(sizes), true);
}

Tensor empty_compressed(IntArrayRef sizes, Layout layout, const TensorOptions& of_indices,
                        const TensorOptions& of_values) {
  if (sizes.size() != 2) HB_NOT_SUPPORTED("[empty] expected a matrix for layout ", layout, ", got size ", sizes);
  Tensor none = hb::empty({sizes[layout == kSparseCsr ? 0 : 1] + 1}, of_indices);
  fill_kernel(none.device())(Loop({&none}, {}), 0);
  return make_compressed(layout, none, hb::empty({0}, of_indices), hb::empty({0}, of_values), DimVector(sizes));
}
}  // namespace

Tensor empty(IntArrayRef sizes, int64_t sparse_dim, const TensorOptions& options) {
  for (int64_t s : sizes) HB_CHECK(s >= 0, "[sparse_coo_tensor] expected sizes that are not negative, got ", sizes);
  const TensorOptions plain = TensorOptions().device(detail::device_for(options));
  const TensorOptions of_indices = plain.dtype(kLong), of_values = plain.dtype(options.dtype());
  Tensor out = detail::is_compressed(options.layout())
                   ? empty_compressed(sizes, options.layout(), of_indices, of_values)
                   : empty_coordinates(sizes, sparse_dim, of_indices, of_values);
  if (options.requires_grad()) detail::autograd_seam.set_requires_grad(out);
  return out;
}

Tensor empty_like(const Tensor& self, const TensorOptions& options) {
  return empty(self.sizes(), self.is_sparse() && options.is_sparse() ? sparse_dim(self) : self.dim(), options);
}

void replace(const Tensor& self, const Tensor& source) { self.impl().share_data_of(source.impl()); }

}  // namespace hb::sparse
