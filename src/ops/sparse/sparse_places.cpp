// Places of sparse tensors: coalescing, conversion from and to strided tensors, values at given places.
#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "backend/sparse.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/sparse/compressed.h"

namespace hb {
namespace sparse {
namespace {

using ops::gradients;

DimVector with_dense_sizes(int64_t first, const DimVector& sizes, int64_t sparse_dim) {
  DimVector shape(1, first);
  for (size_t d = sparse_dim; d < sizes.size(); ++d) shape.push_back(sizes[d]);
  return shape;
}

Tensor key_tensor(const Tensor& self) { return keys_of(parts(self).indices, self.impl().sizes()); }

}  // namespace

int64_t positions(const DimVector& sizes, int64_t n) {
  int64_t count = 1;
  for (int64_t d = 0; d < n; ++d)
    HB_CHECK(!__builtin_mul_overflow(count, sizes[d], &count),
             "[sparse] the sparse dimensions have more places than int64 counts");
  return count;
}

int64_t dense_numel(const DimVector& sizes, int64_t sparse_dim) {
  int64_t count = 1;
  for (size_t d = sparse_dim; d < sizes.size(); ++d) count *= sizes[d];
  return count;
}

Tensor keys_of(const Tensor& indices, const DimVector& sizes) {
  const int64_t n = indices.size(0);
  positions(sizes, n);
  Tensor keys;
  int64_t stride = 1;
  for (int64_t d = n; d-- > 0;) {
    if (sizes[d] != 1) keys = keys.defined() ? keys.add_(indices[d], stride) : indices[d] * stride;
    stride *= sizes[d];
  }
  return keys.defined() ? keys : zeros({indices.size(1)}, indices.options());
}

Grouping group_keys(const Tensor& keys, int64_t limit) {
  const Tensor flat = keys.contiguous();
  const int64_t n = flat.numel();
  Grouping g{hb::empty({n}, flat.options()), hb::empty({n}, flat.options())};
  g.count = sparse_group_kernel(flat.device())(flat.data_ptr<int64_t>(), n, limit, g.order.data_ptr<int64_t>(),
                                               g.group.data_ptr<int64_t>());
  return g;
}

namespace {

/// Where each of `keys` stands among `sorted`, and whether it does.
std::pair<Tensor, Tensor> find(const Tensor& sorted, const Tensor& keys) {
  const Tensor at = searchsorted(sorted, keys).clamp_max_(sorted.numel() - 1);
  return {at, sorted.index_select(0, at) == keys};
}

Tensor gather_sparse(const Tensor& source, const Tensor& indices) {
  const Tensor from = source.coalesce();
  const int64_t n = indices.size(1);
  const DimVector shape = with_dense_sizes(n, source.impl().sizes(), indices.size(0));
  if (nnz(from) == 0 || n == 0) return zeros(shape, TensorOptions(source.scalar_type()).device(source.device()));
  auto [at, found] = find(key_tensor(from), keys_of(indices, source.impl().sizes()));
  DimVector broadcast(shape.size(), 1);
  broadcast[0] = n;
  return from.values().index_select(0, at).masked_fill(logical_not(found).reshape(broadcast), Scalar(0));
}

}  // namespace

Tensor gather(const Tensor& source, const Tensor& indices) {
  if (is_compressed(source)) return gather_sparse(source.to_sparse(2), indices);
  if (source.is_sparse()) return gather_sparse(source, indices);
  const DimVector& sizes = source.impl().sizes();
  const int64_t n = indices.size(0);
  const Tensor rows = source.reshape({positions(sizes, n), dense_numel(sizes, n)});
  return rows.index_select(0, keys_of(indices, sizes)).reshape(with_dense_sizes(indices.size(1), sizes, n));
}

Tensor sparse_mask(const Tensor& self, const Tensor& mask) {
  if (is_compressed(mask)) return mask_compressed(self, mask);
  if (is_compressed(self)) return sparse_mask(self.to_sparse(2), mask);
  const SparseParts& m = parts("sparse_mask", mask);
  HB_CHECK(self.sizes() == mask.sizes(), "[sparse_mask] operands have incompatible sizes; self has size ", self.sizes(),
           " but mask has size ", mask.sizes());
  HB_CHECK(!self.is_sparse() || sparse_dim(self) == sparse_dim(mask),
           "[sparse_mask] expected self and mask with as many sparse dimensions, got ", self.sparse_dim(), " and ",
           mask.sparse_dim());
  Tensor out = make(m.indices.clone(), gather(self.detach(), m.indices), self.impl().sizes(), m.coalesced);
  if (needs_grad(self))
    record("SparseMaskBackward0", out, {&self}, {SavedTensor::input(mask)},
           [strided = !self.is_sparse()](Backward& b, auto& s) {
             const Tensor g = sparse_mask(b.grad(), s[0]);
             return gradients(strided ? g.to_dense() : g);
           });
  return out;
}

namespace {

Tensor coalesced(const Tensor& self) {
  const SparseParts& p = parts(self);
  const DimVector& sizes = self.impl().sizes();
  const Grouping g = group_keys(key_tensor(self), positions(sizes, p.indices.size(0)));
  const int64_t n = p.indices.size(1);
  if (g.count == n) return make(p.indices.index_select(1, g.order), p.values.index_select(0, g.order), sizes, true);
  // Values are summed in the order in which they stand; any entry of a group tells its indices.
  const Tensor entry = hb::empty({g.count}, g.group.options()).index_copy_(0, g.group, arange(n, g.group.options()));
  const DimVector shape = with_dense_sizes(g.count, sizes, p.indices.size(0));
  return make(p.indices.index_select(1, entry), zeros(shape, p.values.options()).index_add_(0, g.group, p.values),
              sizes, true);
}

Tensor densified(const Tensor& self) {
  const SparseParts& p = parts(self);
  const DimVector& sizes = self.impl().sizes();
  const int64_t n = p.indices.size(0), rows = positions(sizes, n), width = dense_numel(sizes, n);
  Tensor out = zeros({rows, width}, p.values.options());
  const Tensor values = p.values.reshape({p.indices.size(1), width});
  if (p.coalesced)
    out.index_copy_(0, key_tensor(self), values);
  else
    out.index_add_(0, key_tensor(self), values);
  return out.view(sizes);
}

}  // namespace
}  // namespace sparse

Tensor Tensor::coalesce() const {
  if (sparse::parts("coalesce", *this).coalesced) return *this;
  Tensor out = sparse::coalesced(*this);
  if (needs_grad(*this)) record("CoalesceBackward0", out, {this}, [](Backward& b) { return ops::gradients(b.grad()); });
  return out;
}

Tensor Tensor::to_dense(std::optional<ScalarType> dtype, std::optional<bool> masked_grad) const {
  if (layout() == kStrided) return dtype ? to(*dtype) : *this;
  if (sparse::is_compressed(*this)) return sparse::to_dense_compressed(*this, dtype, masked_grad.value_or(true));
  HB_CHECK(!dtype, "[to_dense] dtype argument is not supported by sparse_to_dense; call to(dtype) first");
  Tensor out = sparse::densified(*this);
  if (needs_grad(*this))
    record("ToDenseBackward0", out, {this}, {SavedTensor::input(*this)},
           [masked = masked_grad.value_or(true)](Backward& b, auto& s) {
             if (masked) return ops::gradients(sparse::sparse_mask(b.grad(), s[0].coalesce()));
             return ops::gradients(b.grad().to_sparse(sparse::sparse_dim(s[0])));
           });
  return out;
}

Tensor Tensor::to_sparse(int64_t sparse_dim) const {
  if (sparse::is_compressed(*this)) {
    HB_CHECK(sparse_dim == 2, "[to_sparse] conversion from ", layout(),
             " to Sparse with sparse_dim argument !=2 is not supported");
    Tensor out = sparse::coordinates(*this);
    if (needs_grad(*this))
      record("ToSparseBackward0", out, {this},
             [from = layout()](Backward& b) { return ops::gradients(sparse::converted_to(b.grad(), from)); });
    return out;
  }
  if (is_sparse()) {
    HB_CHECK(sparse_dim == this->sparse_dim(),
             "[to_sparse] conversion from Sparse to Sparse with sparse_dim argument "
             "!=self.sparse_dim() is not supported");
    return *this;
  }
  HB_CHECK(sparse_dim >= 0 && sparse_dim <= dim(), "[to_sparse] dense_to_sparse: sparse_dim argument must be in [0,",
           dim(), "] range, but ", sparse_dim, " is given");
  HB_CHECK(sparse_dim > 0 || dim() == 0,
           "[to_sparse] dense_to_sparse: sparse_dim argument must be in >0 when "
           "self.dim()>0");
  const Tensor values = detach();
  const DimVector& sizes = impl().sizes();
  const int64_t rows = sparse::positions(sizes, sparse_dim), width = sparse::dense_numel(sizes, sparse_dim);
  DimVector outer(IntArrayRef(sizes.data(), sparse_dim));
  Tensor listed = sparse_dim == dim() ? values.ne(0) : values.ne(0).reshape({rows, width}).any(1).reshape(outer);
  const Tensor indices = sparse_dim == 0 ? hb::empty({0, listed.item<bool>() ? 1 : 0}, options().dtype(kLong))
                                         : hb::nonzero(listed).t().contiguous();
  Tensor out = sparse::make(indices, sparse::gather(values, indices), sizes, true);
  if (needs_grad(*this))
    record("ToSparseBackward0", out, {this}, [](Backward& b) { return ops::gradients(b.grad().to_dense()); });
  return out;
}

Tensor Tensor::to_sparse(std::optional<Layout> layout, OptionalIntArrayRef blocksize,
                         std::optional<int64_t> dense_dim) const {
  if (layout == kSparseCsr) return to_sparse_csr(dense_dim);
  if (layout == kSparseCsc) return to_sparse_csc(dense_dim);
  if (layout && *layout != kSparse) HB_NOT_SUPPORTED("[to_sparse] layout ", *layout, " is not supported");
  HB_CHECK(!blocksize.has_value(),
           "[to_sparse] to_sparse for Strided to Sparse conversion does not use the specified "
           "blocksize");
  return to_sparse(this->layout() != kStrided ? sparse_dim() : dim() - dense_dim.value_or(0));
}

Tensor Tensor::sparse_mask(const Tensor& mask) const { return sparse::sparse_mask(*this, mask); }

}  // namespace hb
