// Functions of matrices by rows or columns.
#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/geometry.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/sparse/compressed.h"

namespace hb::sparse {
namespace {

using ops::gradients;

/// Of two matrices by rows: (1 alpha) times one above the other, row by row.
Tensor sum_of_rows(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const SparseParts &p = parts(self), &q = parts(other);
  const int64_t rows = self.size(0);
  if (p.compressed.equal(q.compressed) && p.indices.equal(q.indices))
    return with_values(self, hb::add(p.values, q.values, alpha));
  const Tensor lower = q.compressed.to(kLong).slice(0, 1) + p.indices.numel();
  const Tensor both = make_compressed(
      kSparseCsr, hb::cat({p.compressed.to(kLong), lower}, 0), hb::cat({p.indices.to(kLong), q.indices.to(kLong)}, 0),
      hb::cat({p.values, q.values}, 0), DimVector(IntArrayRef({2 * rows, self.size(1)})));
  const Tensor row = arange(rows, lower.options());
  const Tensor factors = hb::stack({ones({rows}, p.values.options()), full({rows}, alpha, p.values.options())}, 1);
  const Tensor sums = make_compressed(kSparseCsr, arange(0, 2 * rows + 1, 2, lower.options()),
                                      hb::stack({row, row + rows}, 1).reshape({-1}), factors.reshape({-1}),
                                      DimVector(IntArrayRef({rows, 2 * rows})));
  return product_of_compressed(sums, both);
}

Tensor sum_of(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (other.layout() == kStrided) return sparse::add(other * alpha, coordinates(self), 1);
  if (self.layout() == kStrided) return sparse::add(self, coordinates(other), alpha);
  if (self.layout() != other.layout()) return sum_of(self, converted_to(other, self.layout()), alpha);
  if (self.is_sparse_csr()) return sum_of_rows(self, other, alpha);
  if (self.is_sparse()) return sparse::add(self, other, alpha);
  const auto turned = [](const Tensor& t) { return transpose_compressed(t, 0, 1); };
  return turned(sum_of_rows(turned(self), turned(other), alpha));
}

}  // namespace

Tensor add_compressed(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  HB_CHECK(self.sizes() == other.sizes(),
           "[add] expected 'self' and 'other' to have same size (sparse addition does not broadcast), but self has "
           "size ",
           self.sizes(), " while other has size ", other.sizes());
  const ScalarType t = ops::promoted({self, other});
  Tensor out = sum_of(self.detach().to(t), other.detach().to(t), alpha);
  if (needs_grad(self, other))
    record("AddBackward0", out, {&self, &other}, [alpha](Backward& b) {
      return gradients(b.needs(0) ? b.grad() : Tensor(), b.needs(1) ? b.grad() * ops::conj(alpha) : Tensor());
    });
  return out;
}

// Rows become columns: the parts stay.
Tensor transpose_compressed(const Tensor& self, int64_t dim0, int64_t dim1) {
  if (geometry::wrap_dim("transpose", dim0, 2) == geometry::wrap_dim("transpose", dim1, 2)) return self;
  const SparseParts& p = parts(self);
  Tensor out = make_compressed(p.layout == kSparseCsr ? kSparseCsc : kSparseCsr, p.compressed, p.indices, p.values,
                               DimVector(IntArrayRef({self.size(1), self.size(0)})));
  if (needs_grad(self))
    record("TransposeBackward0", out, {&self}, [](Backward& b) { return gradients(hb::transpose(b.grad(), 0, 1)); });
  return out;
}

Tensor sum_compressed(const Tensor& self, IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  HB_CHECK(keepdim, "[sum] reduction operations on CSR tensors with keepdim=False is unsupported");
  Tensor sums = sparse::sum(coordinates(self), dim, true, dtype);
  Tensor out = in_layout(sums.layout() == kStrided ? sums.to_sparse(2) : sums, self.layout());
  if (needs_grad(self))
    record("SumBackward1", out, {&self},
           [sizes = self.impl().sizes()](Backward& b) { return gradients(b.grad().to_dense().expand(sizes)); });
  return out;
}

Tensor mask_compressed(const Tensor& self, const Tensor& mask) {
  HB_CHECK(self.sizes() == mask.sizes(), "[sparse_mask] operands have incompatible sizes; self has size ", self.sizes(),
           " but mask has size ", mask.sizes());
  Tensor out = with_values(mask, gather(self.detach(), parts(coordinates(mask)).indices));
  if (needs_grad(self))
    record("SparseMaskBackward0", out, {&self}, {SavedTensor::input(mask)},
           [from = self.layout()](Backward& b, auto& s) {
             return gradients(converted_to(sparse_mask(b.grad(), s[0]), from));
           });
  return out;
}

Tensor to_dense_compressed(const Tensor& self, std::optional<ScalarType> dtype, bool masked_grad) {
  HB_CHECK(!dtype, "[to_dense] dtype argument is not supported by sparse_csr_to_dense; call to(dtype) first");
  // A column may be listed twice in a row: values are summed.
  const Tensor listed = coordinates(self);
  const SparseParts& p = parts(listed);
  Tensor out = make(p.indices, p.values, self.impl().sizes(), false).to_dense();
  if (needs_grad(self))
    record("ToDenseBackward0", out, {&self}, {SavedTensor::input(self)}, [masked_grad](Backward& b, auto& s) {
      return gradients(masked_grad ? sparse_mask(b.grad(), s[0]) : converted_to(b.grad(), s[0].layout()));
    });
  return out;
}

}  // namespace hb::sparse
