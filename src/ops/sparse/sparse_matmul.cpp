// Products of sparse matrices.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "backend/sparse.h"
#include "ops/common/without_gradient.h"
#include "ops/linalg/matrix_product.h"
#include "ops/sparse/compressed.h"

namespace hb {
namespace sparse {
namespace {

using ops::gradients;

DimVector matrix_of(int64_t rows, int64_t columns) { return DimVector(IntArrayRef({rows, columns})); }

/// A coalesced matrix by rows, in the dtype that it is computed in.
int64_t* integers(const Tensor& t) { return static_cast<int64_t*>(t.impl().visible_data()); }

class Rows {
 public:
  Rows(const char* name, const Tensor& matrix) : shape_(matrix.impl().sizes()) {
    if (matrix.is_sparse_csr()) {
      take_rows(parts(matrix));
      return;
    }
    const Tensor c = matrix.detach().coalesce();
    const SparseParts& p = parts(c);
    HB_CHECK(c.dim() == 2 && p.indices.size(0) == 2, "[", name,
             "] expected a sparse matrix of two sparse dimensions, got shape ", c.sizes(), " with sparse_dim ",
             p.indices.size(0));
    indices_ = p.indices.contiguous(), values_ = p.values.to(compute_type(c.scalar_type())).contiguous();
    const int64_t n = indices_.size(1), rows = shape_[0];
    first_ = hb::empty({rows + 1}, indices_.options());
    const int64_t* row = integers(indices_);
    columns_ = row + n;
    sparse_rows_kernel(indices_.device())(name, row, columns_, n, rows, shape_[1], integers(first_));
  }
  SparseRows view() const { return {shape_[0], integers(first_), columns_, values_.impl().visible_data()}; }
  const Tensor& indices() const { return indices_; }
  ScalarType dtype() const { return values_.scalar_type(); }

 private:
  // Whoever made the matrix checked its indices.
  void take_rows(const SparseParts& p) {
    indices_ = p.indices.to(kLong).contiguous(), first_ = p.compressed.to(kLong).contiguous();
    values_ = p.values.to(compute_type(p.values.scalar_type())).contiguous();
    columns_ = integers(indices_);
  }

  DimVector shape_;
  Tensor indices_, values_, first_;
  const int64_t* columns_ = nullptr;  // in indices_
};

void check_factors(const char* name, const Tensor& a, const Tensor& b) {
  HB_CHECK(a.dim() == 2 && b.dim() == 2, "[", name, "] expected two matrices, got ", a.sizes(), " and ", b.sizes());
  HB_CHECK(a.size(1) == b.size(0), "[", name, "] expected the inner dimensions to agree, got ", a.sizes(), " and ",
           b.sizes());
  ops::check_same_dtype(name, a, b);
}

/// Sparse by strided, without history.
Tensor times_strided(const Tensor& a, const Tensor& b) {
  const Rows rows("mm", a);
  const Tensor dense = b.detach().to(rows.dtype()).contiguous();
  Tensor out = hb::empty({a.size(0), b.size(1)}, dense.options());
  sparse_mm_kernel(b.device())(rows.dtype(), rows.view(), dense.impl().visible_data(), b.size(1),
                               out.impl().visible_data());
  return out.to(a.scalar_type());
}

/// Sparse by sparse, without history.
Tensor times_sparse(const Tensor& a, const Tensor& b) {
  const Rows left("mm", a), right("mm", b);
  const int64_t columns = b.size(1);
  const Tensor first = hb::empty({a.size(0) + 1}, left.indices().options());
  SparseProduct out{integers(first)};
  sparse_product_kernel(a.device())(left.dtype(), left.view(), right.view(), columns, out);
  const int64_t n = first[-1].item().toLong();
  Tensor indices = hb::empty({2, n}, left.indices().options());
  Tensor values = hb::empty({n}, left.indices().options().dtype(left.dtype()));
  out.row = integers(indices), out.column = out.row + n, out.value = values.impl().visible_data();
  if (n) sparse_product_kernel(a.device())(left.dtype(), left.view(), right.view(), columns, out);
  return make(indices, values.to(a.scalar_type()), matrix_of(a.size(0), columns), true);
}

/// x y^H at the entries of `mask` alone, (n, k) by (m, k): sparse, coalesced.
Tensor sampled_product(const Tensor& x, const Tensor& y, const Tensor& mask) {
  if (is_compressed(mask)) return converted_to(sampled_product(x, y, coordinates(mask)), mask.layout());
  const Tensor c = mask.coalesce();
  const Tensor& indices = parts(c).indices;
  if (needs_grad(x, y)) {
    const Tensor products = x.index_select(0, indices[0]) * hb::conj(y).index_select(0, indices[1]);
    return construct(indices, products.sum(IntArrayRef({1})), c.impl().sizes(), true);
  }
  const Rows rows("mm", c);
  const Tensor left = x.detach().to(rows.dtype()).contiguous(), right = y.detach().to(rows.dtype()).contiguous();
  Tensor values = hb::empty({nnz(c)}, left.options());
  sparse_sampled_product_kernel(x.device())(rows.dtype(), rows.view(), left.impl().visible_data(),
                                            right.impl().visible_data(), x.size(1), values.impl().visible_data());
  return make(indices, values.to(c.scalar_type()), c.impl().sizes(), true);
}

Tensor adjoint_of(const Tensor& m) { return hb::conj(hb::transpose(m, 0, 1)); }

/// Whether gradients are read at the tensor's own entries alone, so that no others are needed.
bool reads_own_entries(const Tensor& t) {
  const Node* node = t.grad_fn().get();
  while (node && node->name() == "CoalesceBackward0") node = node->next_edge(0).function.get();
  return node && node->name() == "SparseCooTensorWithDimsAndTensorsBackward0";
}

Tensor gradient_of_sparse(const Tensor& g, const Tensor& a, const Tensor& b, bool masked) {
  if (a.layout() == kStrided || (is_compressed(a) && !masked)) return hb::mm(g, adjoint_of(b));
  if (is_compressed(a))
    return b.layout() == kStrided ? sampled_product(g, b, a) : sparse_mask(hb::mm(g, adjoint_of(b)), a);
  if (g.is_sparse() || b.is_sparse()) return sparse_mask(mm(g, adjoint_of(b), false), a.coalesce());
  return masked ? sampled_product(g, b, a) : hb::mm(g, adjoint_of(b));
}

}  // namespace

Tensor product_of_compressed(const Tensor& a, const Tensor& b) {
  if (a.layout() == kStrided)
    return hb::transpose(product_of_compressed(hb::transpose(b, 0, 1), hb::transpose(a, 0, 1)), 0, 1).contiguous();
  const Tensor left = a.to_sparse_csr();
  if (b.layout() == kStrided) return times_strided(left, b);
  return in_layout(times_sparse(left, b.to_sparse_csr()), a.layout() == kSparseCsc ? kSparseCsc : kSparseCsr);
}

namespace {

/// Without masked, the gradient of a sparse factor is that of all its elements.
Tensor mm_compressed(const Tensor& a, const Tensor& b, bool masked) {
  Tensor out = product_of_compressed(a.detach(), b.detach());
  if (needs_grad(a, b))
    record(masked ? "SparseAddmmBackward0" : "MmBackward0", out, {&a, &b},
           {SavedTensor::input(a), SavedTensor::input(b)}, [masked](Backward& c, auto& s) {
             Tensor gb;
             if (c.needs(1)) gb = hb::mm(adjoint_of(s[0]), c.grad());
             if (c.needs(1) && masked && s[1].layout() != kStrided) gb = sparse_mask(gb, s[1]);
             return gradients(c.needs(0) ? gradient_of_sparse(c.grad(), s[0], s[1], masked) : Tensor(), gb);
           });
  return out;
}

}  // namespace

Tensor mm(const Tensor& a, const Tensor& b, bool masked) {
  check_factors("mm", a, b);
  if (is_compressed(a) || is_compressed(b)) return mm_compressed(a, b, masked);
  if (!a.is_sparse() && !b.is_sparse()) return hb::mm(a, b);
  // (b^T a^T)^T: the sparse factor stands first.
  if (!a.is_sparse()) return hb::transpose(mm(hb::transpose(b, 0, 1), hb::transpose(a, 0, 1), masked), 0, 1);
  Tensor out = b.is_sparse() ? times_sparse(a, b) : times_strided(a, b);
  if (needs_grad(a, b)) {
    masked = masked || reads_own_entries(a);
    record(b.is_sparse() ? "SparseSparseMatmulBackward0" : "SparseAddmmBackward0", out, {&a, &b},
           {SavedTensor::input(a), SavedTensor::input(b)}, [masked](Backward& c, auto& s) {
             Tensor gb;
             if (c.needs(1)) gb = mm(adjoint_of(s[0]), c.grad(), masked);
             if (c.needs(1) && s[1].is_sparse()) gb = sparse_mask(gb, s[1].coalesce());
             return gradients(c.needs(0) ? gradient_of_sparse(c.grad(), s[0], s[1], masked) : Tensor(), gb);
           });
  }
  return out;
}

// Stacks are one matrix of blocks: (b r, b k) times the rows of all dense matrices.
Tensor bmm(const Tensor& a, const Tensor& b) {
  HB_CHECK(a.is_sparse() && !b.is_sparse() && sparse_dim(a) == 3,
           "[bmm] expected a sparse stack (3 sparse dimensions) "
           "and a strided one, in this order; use to_dense() else");
  const SparseParts& p = parts(a);
  const int64_t stack = a.size(0), rows = a.size(1), inner = a.size(2);
  const Tensor block = p.indices[0];
  const Tensor indices = hb::stack({block * rows + p.indices[1], block * inner + p.indices[2]}, 0);
  if (needs_grad(a)) HB_NOT_SUPPORTED("[bmm] the gradient of a sparse stack is not supported; use to_dense()");
  const Tensor matrix = make(indices, p.values, matrix_of(stack * rows, stack * inner), p.coalesced);
  return mm(matrix, b.reshape({stack * inner, b.size(2)}), false).view({stack, rows, b.size(2)});
}

namespace {

/// Rows of a b that are not zero: their numbers and values.
std::pair<Tensor, Tensor> rows_of_product(const Tensor& a, const Tensor& b) {
  const Tensor c = a.detach().coalesce();
  const SparseParts& p = parts(c);
  const Grouping g = group_keys(p.indices[0], std::max<int64_t>(a.size(0), 1));
  const Tensor numbers = hb::empty({g.count}, g.group.options()).index_copy_(0, g.group, p.indices[0]);
  const Tensor compact = make(hb::stack({g.group, p.indices[1]}, 0), p.values, matrix_of(g.count, a.size(1)), true);
  return {numbers, times_strided(compact, b)};
}

void check_first_sparse(const char* name, const Tensor& a, const Tensor& b) {
  HB_CHECK(a.is_sparse() && !b.is_sparse(), "[", name, "] expected a sparse and a strided matrix, in this order");
  check_factors(name, a, b);
}

}  // namespace
}  // namespace sparse

Tensor _sparse_mm(const Tensor& a, const Tensor& b) { return sparse::mm(a, b, true); }

Tensor _sparse_sparse_matmul(const Tensor& self, const Tensor& other) {
  sparse::parts("_sparse_sparse_matmul", self), sparse::parts("_sparse_sparse_matmul", other);
  return sparse::mm(self, other, true);
}

Tensor _sparse_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                     const Scalar& alpha) {
  const Tensor product = sparse::mm(mat1, mat2, true) * alpha;
  return beta.equal(0) ? product : self * beta + product;
}

Tensor hspmm(const Tensor& mat1, const Tensor& mat2) {
  sparse::check_first_sparse("hspmm", mat1, mat2);
  const auto [numbers, values] = sparse::rows_of_product(mat1, mat2);
  const Tensor out = sparse::make(numbers.unsqueeze(0), values, sparse::matrix_of(mat1.size(0), mat2.size(1)), false);
  return ops::without_gradient("hspmm", out, mat1, mat2);
}

Tensor smm(const Tensor& self, const Tensor& mat2) {
  sparse::check_first_sparse("smm", self, mat2);
  return sspaddmm(sparse_coo_tensor({self.size(0), mat2.size(1)}, self.options()), self, mat2, 0, 1);
}

Tensor sspaddmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  sparse::check_first_sparse("sspaddmm", mat1, mat2);
  const SparseParts& p = sparse::parts("sspaddmm", self);
  HB_CHECK(self.dim() == 2 && self.size(0) == mat1.size(0) && self.size(1) == mat2.size(1),
           "[sspaddmm] expected self of the product's shape [", mat1.size(0), ", ", mat2.size(1), "], got ",
           self.sizes());
  const auto [numbers, rows] = sparse::rows_of_product(mat1, mat2);
  const int64_t n = mat2.size(1);
  const Tensor columns = arange(n, numbers.options()).repeat({numbers.numel()});
  const Tensor places = hb::stack({numbers.repeat_interleave(n), columns}, 0);
  const Tensor out = sparse::make(cat({p.indices, places}, 1), cat({p.values * beta, (rows * alpha).reshape({-1})}, 0),
                                  self.impl().sizes(), false);
  return ops::without_gradient("sspaddmm", out, self, mat1, mat2);
}

Tensor Tensor::smm(const Tensor& mat2) const { return hb::smm(*this, mat2); }
Tensor Tensor::sspaddmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const {
  return hb::sspaddmm(*this, mat1, mat2, beta, alpha);
}

}  // namespace hb
