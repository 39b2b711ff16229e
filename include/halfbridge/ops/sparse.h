#pragma once
// Sparse (COO) tensors: makers and products. Methods: ops/sparse_methods.def. Element-wise functions that keep zeros,
// add, sub, mul, div, sum, norm, mm, mv, matmul, addmm, cat, index_select, select, narrow_copy, transpose, permute,
// unsqueeze, copy_, zero_, clone and to take sparse tensors where LibTorch's do; every other function throws.

#include <halfbridge/tensor.h>

namespace hb {

/// indices: int64 (sparse_dim, nnz), each below its dimension; values: (nnz, dense dimensions…). Without a size the
/// smallest that holds all indices. `options` may ask for a gradient; the dtype is that of values. Memory is shared.
HB_API Tensor sparse_coo_tensor(const Tensor& indices, const Tensor& values, IntArrayRef size,
                                const TensorOptions& options = {}, std::optional<bool> is_coalesced = std::nullopt);
HB_API Tensor sparse_coo_tensor(const Tensor& indices, const Tensor& values, const TensorOptions& options = {},
                                std::optional<bool> is_coalesced = std::nullopt);
/// No entries; all dimensions are sparse.
HB_API Tensor sparse_coo_tensor(IntArrayRef size, const TensorOptions& options);
/// Indices are taken as they are. One that is out of range is found where it would address memory: an error there.
HB_API Tensor _sparse_coo_tensor_unsafe(const Tensor& indices, const Tensor& values, IntArrayRef size,
                                        const TensorOptions& options = {},
                                        std::optional<bool> is_coalesced = std::nullopt);

/// Product of matrices of which one is sparse (dense result) or both are (sparse result). Unlike mm's, the gradient of
/// a sparse factor has that factor's entries alone.
HB_API Tensor _sparse_mm(const Tensor& sparse, const Tensor& dense);
HB_API Tensor _sparse_sparse_matmul(const Tensor& self, const Tensor& other);
/// beta self + alpha mat1 mat2, mat1 sparse, the rest dense.
HB_API Tensor _sparse_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
                            const Scalar& alpha = 1);
/// Sparse by dense to sparse: smm(a, b) and sspaddmm(self, a, b), whose entries are not coalesced; hspmm(a, b), whose
/// rows are values (sparse_dim 1).
HB_API Tensor smm(const Tensor& self, const Tensor& mat2);
HB_API Tensor sspaddmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
                       const Scalar& alpha = 1);
HB_API Tensor hspmm(const Tensor& mat1, const Tensor& mat2);

/// Sums over all entries, or over dimensions: sparse while a sparse dimension is left, else dense.
HB_API Tensor _sparse_sum(const Tensor& input);
HB_API Tensor _sparse_sum(const Tensor& input, ScalarType dtype);
HB_API Tensor _sparse_sum(const Tensor& input, IntArrayRef dim);
HB_API Tensor _sparse_sum(const Tensor& input, IntArrayRef dim, ScalarType dtype);
/// Softmax over the entries that are listed; what is not counts as minus infinity.
HB_API Tensor _sparse_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt);
HB_API Tensor _sparse_log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt);

}  // namespace hb
