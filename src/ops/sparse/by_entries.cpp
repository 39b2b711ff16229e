// Products that are computed entry by entry of a matrix by rows.
#include <halfbridge/ops.h>

#include "core/function_watch.h"
#include "ops/sparse/compressed.h"

namespace hb {
namespace {

/// Where the entries of a matrix by rows lie: int64 (nnz) each.
struct Places {
  Tensor rows, columns;
};
Places places_of(const Tensor& matrix) {
  const Tensor both = _convert_indices_from_csr_to_coo(matrix.crow_indices(), matrix.col_indices()).to(kLong);
  return {both.select(0, 0), both.select(0, 1)};
}

void check_dense(const char* name, const char* which, const Tensor& t) {
  HB_CHECK(t.layout() == kStrided, name, ": Expected ", which, " to have strided layout, but got ", t.layout());
}

void check_sampled(const Tensor& self, const Tensor& mat1, const Tensor& mat2) {
  constexpr const char* name = "sampled_addmm";
  HB_CHECK(self.is_sparse_csr(), name, ": Expected self to have layout SparseCsr, but got ", self.layout());
  check_dense(name, "mat1", mat1);
  check_dense(name, "mat2", mat2);
  HB_CHECK(mat1.dim() == 2, name, ": Expected mat1 to be a matrix, got sizes ", mat1.sizes());
  HB_CHECK(mat2.dim() == 2, name, ": Expected mat2 to be a matrix, got sizes ", mat2.sizes());
  HB_CHECK(mat1.size(-1) == mat2.size(-2), name, ": mat1 and mat2 shapes cannot be multiplied (", mat1.size(-2), "x",
           mat1.size(-1), " and ", mat2.size(-2), "x", mat2.size(-1), ")");
  HB_CHECK(self.size(-2) == mat1.size(-2), name, ": self.shape[-2] must match mat1.shape[-2]");
  HB_CHECK(self.size(-1) == mat2.size(-1), name, ": self.shape[-1] must match mat2.shape[-1]");
  HB_CHECK(mat1.scalar_type() == mat2.scalar_type(), name, ": Expected mat1 and mat2 to have the same dtype, but got ",
           mat1.scalar_type(), " and ", mat2.scalar_type());
  HB_CHECK(mat1.scalar_type() == self.scalar_type(), name, ": Expected mat1 and self to have the same dtype, but got ",
           mat1.scalar_type(), " and ", self.scalar_type());
  HB_CHECK_SUPPORTED(self.is_floating_point() || self.is_complex(), name, ": not implemented for '", self.scalar_type(),
                     "'");
}

}  // namespace

Tensor sparse_sampled_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                            const Scalar& alpha) {
  HB_FUNCTION(sparse_sampled_addmm, self, mat1, mat2, beta, alpha);
  check_sampled(self, mat1, mat2);
  const Places p = places_of(self);
  const Tensor products =
      (mat1.index_select(0, p.rows) * mat2.t().index_select(0, p.columns)).sum(-1) * alpha;  // (nnz)
  // Values times 0 would keep what is not finite.
  return sparse::construct_like(self, beta.equal(0) ? products : self.values() * beta + products);
}

Tensor _sparse_mm(const Tensor& sparse, const Tensor& dense, std::string_view reduce) {
  HB_FUNCTION(_sparse_mm, sparse, dense, reduce);
  HB_CHECK_SUPPORTED(sparse.is_sparse_csr(), "[_sparse_mm] with a reduction expects a SparseCsr matrix, got ",
                     sparse.layout());
  check_dense("sparse_mm_reduce", "other", dense);
  HB_CHECK(sparse.dim() == 2 && dense.dim() == 2 && sparse.size(1) == dense.size(0),
           "[_sparse_mm] expected matrices that can be multiplied, got ", sparse.sizes(), " and ", dense.sizes());
  HB_CHECK(sparse.scalar_type() == dense.scalar_type() && dense.is_floating_point(),
           "[_sparse_mm] expected matrices of one floating point dtype, got ", sparse.scalar_type(), " and ",
           dense.scalar_type());
  HB_CHECK(reduce == "sum" || reduce == "mean" || reduce == "amax" || reduce == "amin",
           "sparse_mm_reduce: reduce type of ", reduce, " has not been enabled.");
  const Places p = places_of(sparse);
  const Tensor products = sparse.values().unsqueeze(1) * dense.index_select(0, p.columns);  // (nnz, columns)
  const Tensor start = zeros({sparse.size(0), dense.size(1)}, dense.options());
  return start.scatter_reduce(0, p.rows.unsqueeze(1).expand(products.sizes()), products, reduce,
                              /*include_self=*/false);
}

}  // namespace hb
