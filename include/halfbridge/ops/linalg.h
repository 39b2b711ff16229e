#pragma once
// Matrix functions beyond the products of methods.def.

#include <halfbridge/tensor.h>

namespace hb {

HB_API Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {});
HB_API Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                       const std::optional<Tensor>& bias = {});
HB_API Tensor linalg_inv(const Tensor& a);
HB_API Tensor linalg_det(const Tensor& a);
HB_API std::tuple<Tensor, Tensor> linalg_qr(const Tensor& a, std::string_view mode = "reduced");
HB_API Tensor linalg_cholesky(const Tensor& a, bool upper = false);
/// driver: which of cuSOLVER's methods; only for tensors on CUDA.
HB_API std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& a, bool full_matrices = true,
                                                     std::optional<std::string_view> driver = std::nullopt);
HB_API Tensor linalg_solve(const Tensor& a, const Tensor& b, bool left = true);
HB_API std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& a, std::string_view uplo = "L");
HB_API Tensor linalg_eigvalsh(const Tensor& a, std::string_view uplo = "L");
/// Eigenvalues (..., n) and eigenvectors (..., n, n; columns of length 1) of general matrices, in no particular order;
/// complex also for real matrices.
HB_API std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self);
HB_API Tensor linalg_eigvals(const Tensor& self);
HB_API Tensor linalg_svdvals(const Tensor& a, std::optional<std::string_view> driver = std::nullopt);
/// Sign and logarithm of the absolute value of the determinant.
HB_API std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& a);
/// The Moore-Penrose inverse; singular values of at most rcond times the largest count as zero.
HB_API Tensor linalg_pinv(const Tensor& a, double rcond, bool hermitian = false);
HB_API Tensor linalg_pinv(const Tensor& a, const Tensor& rcond, bool hermitian = false);
/// Singular values of at most max(atol, rtol * the largest one) count as zero, as in linalg_matrix_rank; tensors hold a
/// tolerance for each matrix.
HB_API Tensor linalg_pinv(const Tensor& a, const std::optional<Tensor>& atol = std::nullopt,
                          const std::optional<Tensor>& rtol = std::nullopt, bool hermitian = false);
HB_API Tensor linalg_pinv(const Tensor& a, std::optional<double> atol, std::optional<double> rtol,
                          bool hermitian = false);
HB_API Tensor linalg_matrix_power(const Tensor& self, int64_t n);
/// (LU, pivots of int32 counted from 1) of square matrices; without gradients.
HB_API std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& a, bool pivot = true);
HB_API Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord = std::nullopt,
                          OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                          std::optional<ScalarType> dtype = std::nullopt);
HB_API Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord = 2, OptionalIntArrayRef dim = std::nullopt,
                                 bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt);
/// "fro" and "nuc", as LibTorch's overload for strings.
HB_API Tensor linalg_norm(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim = std::nullopt,
                          bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt);
HB_API Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim = {-2, -1},
                                 bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt);
HB_API Tensor linalg_matrix_norm(const Tensor& self, std::string_view ord = "fro", IntArrayRef dim = {-2, -1},
                                 bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt);
HB_API Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim = -1);
HB_API Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim = -1);
HB_API Tensor linalg_multi_dot(TensorList tensors);
HB_API Tensor linalg_diagonal(const Tensor& a, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);
HB_API Tensor linalg_matrix_exp(const Tensor& self);
/// The number of singular values above max(atol, rtol * the largest one); without tolerances rtol is the dtype's
/// epsilon times the longer side, and 0 where atol > 0 is given.
HB_API Tensor linalg_matrix_rank(const Tensor& input, const std::optional<Tensor>& atol = std::nullopt,
                                 const std::optional<Tensor>& rtol = std::nullopt, bool hermitian = false);
HB_API Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                                 bool hermitian = false);
/// As above, where `tol` is atol and rtol is 0.
HB_API Tensor linalg_matrix_rank(const Tensor& self, double tol, bool hermitian = false);
HB_API Tensor linalg_matrix_rank(const Tensor& input, const Tensor& tol, bool hermitian = false);
inline Tensor linalg_matmul(const Tensor& self, const Tensor& other) { return matmul(self, other); }
/// X of A X = B (X A = B unless `left`) for a triangular A; the other triangle is not read. A zero on the diagonal
/// gives infinities or NaN.
HB_API Tensor linalg_solve_triangular(const Tensor& self, const Tensor& b, bool upper, bool left = true,
                                      bool unitriangular = false);
/// (solution, residuals, rank, singular values) by LAPACK's routine `driver`: "gelsy" unless given, "gelsd", "gelss"
/// (of all best solutions the smallest), or "gels" (A has full rank). What a driver does not compute is empty:
/// residuals of gelsy, the rank of gels, the singular values of both.
HB_API std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                               std::optional<double> rcond = std::nullopt,
                                                               std::optional<std::string_view> driver = std::nullopt);
/// (P, L, U) of the factors that linalg_lu_factor gives.
HB_API std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& lu_data, const Tensor& lu_pivots,
                                                    bool unpack_data = true, bool unpack_pivots = true);
HB_API std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& a, bool pivot = true);
HB_API Tensor linalg_lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left = true,
                              bool adjoint = false);
/// (LD, pivots of int32, (…, n)) of matrices (…, n, n) that are symmetric or, with `hermitian`, hermitian; the lower
/// triangle is read. LD holds D, whose blocks have one row or two (pivots are negative there), and L below it, as
/// LAPACK's sytrf and hetrf give them. Without gradients. Throws where D is singular.
HB_API std::tuple<Tensor, Tensor> linalg_ldl_factor(const Tensor& self, bool hermitian = false);
/// The same and LAPACK's info (int32, one per matrix); throws for it with `check_errors` alone.
HB_API std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex(const Tensor& self, bool hermitian = false,
                                                               bool check_errors = false);
/// X (…, n, k) of A X = B, where linalg_ldl_factor has factored A, with the same `hermitian`; batches broadcast.
/// Without gradients. Throws for pivots that it cannot have given.
HB_API Tensor linalg_ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian = false);
/// The _ex forms give LAPACK's info (int32, one per matrix: 0, or where the factorisation failed) and throw for it with
/// `check_errors` alone.
HB_API std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper = false, bool check_errors = false);
HB_API std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& a, bool check_errors = false);
HB_API std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& a, const Tensor& b, bool left = true,
                                                  bool check_errors = false);
HB_API std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& a, bool pivot = true,
                                                              bool check_errors = false);
/// The norm of A times the norm of its inverse; without p by singular values. Infinite for singular matrices.
HB_API Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p = std::nullopt);
HB_API Tensor linalg_cond(const Tensor& self, std::string_view p);
HB_API Tensor linalg_vander(const Tensor& x, std::optional<int64_t> n = std::nullopt);
HB_API Tensor linalg_tensorinv(const Tensor& self, int64_t ind = 2);
HB_API Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims = std::nullopt);
/// The first n columns of the product of the Householder reflections that geqrf gives: input (…, m, n), tau (…, k).
HB_API Tensor linalg_householder_product(const Tensor& input, const Tensor& tau);
HB_API Tensor nuclear_norm(const Tensor& self, bool keepdim = false);
HB_API Tensor nuclear_norm(const Tensor& self, IntArrayRef dim, bool keepdim = false);
/// The norm over all dimensions but `dim`; -1: over all.
HB_API Tensor norm_except_dim(const Tensor& v, int64_t pow = 2, int64_t dim = 0);
HB_API Tensor frobenius_norm(const Tensor& self, IntArrayRef dim, bool keepdim = false);

}  // namespace hb
