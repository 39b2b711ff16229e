#pragma once
// Sparse tensors, by coordinates (COO) or by rows or columns (CSR, CSC): makers and products. Methods:
// ops/sparse_methods.def. Element-wise functions that keep zeros, add, sub, mul, div, sum, norm, mm, mv, matmul, addmm,
// cat, index_select, select, narrow_copy, transpose, permute, unsqueeze, copy_, zero_, clone and to take sparse tensors
// where LibTorch's do; every other function throws.

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

/// A matrix by rows: row r has the entries crow_indices[r] to crow_indices[r + 1], which lie in the columns that
/// col_indices lists, in any order within a row. Both become int64 or int32 as crow_indices is; values: (nnz). Without
/// a size, as many columns as the largest index asks for. Errors: indices out of range (always checked), other sizes.
HB_API Tensor sparse_csr_tensor(const Tensor& crow_indices, const Tensor& col_indices, const Tensor& values,
                                IntArrayRef size, const TensorOptions& options = {});
HB_API Tensor sparse_csr_tensor(const Tensor& crow_indices, const Tensor& col_indices, const Tensor& values,
                                const TensorOptions& options = {});
/// The same by columns.
HB_API Tensor sparse_csc_tensor(const Tensor& ccol_indices, const Tensor& row_indices, const Tensor& values,
                                IntArrayRef size, const TensorOptions& options = {});
HB_API Tensor sparse_csc_tensor(const Tensor& ccol_indices, const Tensor& row_indices, const Tensor& values,
                                const TensorOptions& options = {});
/// By rows or columns, as the layout of `options` says; layouts of blocks are not supported.
HB_API Tensor sparse_compressed_tensor(const Tensor& compressed_indices, const Tensor& plain_indices,
                                       const Tensor& values, IntArrayRef size, const TensorOptions& options);
HB_API Tensor sparse_compressed_tensor(const Tensor& compressed_indices, const Tensor& plain_indices,
                                       const Tensor& values, const TensorOptions& options);
/// The same: indices are checked here, too, unlike LibTorch's.
HB_API Tensor _sparse_csr_tensor_unsafe(const Tensor& crow_indices, const Tensor& col_indices, const Tensor& values,
                                        IntArrayRef size, const TensorOptions& options = {});
HB_API Tensor _sparse_csc_tensor_unsafe(const Tensor& ccol_indices, const Tensor& row_indices, const Tensor& values,
                                        IntArrayRef size, const TensorOptions& options = {});
HB_API Tensor _sparse_compressed_tensor_unsafe(const Tensor& compressed_indices, const Tensor& plain_indices,
                                               const Tensor& values, IntArrayRef size, const TensorOptions& options);
/// Ascending row numbers (nnz) of a matrix of `size` rows as crow_indices (size + 1), and back: (2, nnz), rows above
/// columns, or below them if transposed.
HB_API Tensor _convert_indices_from_coo_to_csr(const Tensor& self, int64_t size, bool out_int32 = false);
HB_API Tensor _convert_indices_from_csr_to_coo(const Tensor& crow_indices, const Tensor& col_indices,
                                               bool out_int32 = false, bool transpose = false);

/// Product of matrices of which one is sparse (dense result) or both are (sparse result). Unlike mm's, the gradient of
/// a sparse factor has that factor's entries alone.
HB_API Tensor _sparse_mm(const Tensor& sparse, const Tensor& dense);
/// As above for reduce "sum"; "mean", "amax" and "amin" take the mean or an extremum of the products over a row's
/// entries (0 where there is none). Of a matrix by rows (CSR) and a dense one of float, double or half types.
HB_API Tensor _sparse_mm(const Tensor& sparse, const Tensor& dense, std::string_view reduce);
HB_API Tensor _sparse_sparse_matmul(const Tensor& self, const Tensor& other);
/// beta self + alpha mat1 mat2, mat1 sparse, the rest dense.
HB_API Tensor _sparse_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
                            const Scalar& alpha = 1);
/// beta self + alpha (mat1 mat2) at the places that self, a matrix by rows (CSR), lists; mat1 and mat2 are dense.
HB_API Tensor sparse_sampled_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
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
/// half_to_float: for CUDA alone; true throws.
HB_API Tensor _sparse_softmax(const Tensor& self, int64_t dim, bool half_to_float);
HB_API Tensor _sparse_log_softmax(const Tensor& self, int64_t dim, bool half_to_float);

}  // namespace hb
