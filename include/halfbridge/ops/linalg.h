#pragma once
// Matrix functions beyond the products of methods.def.

#include <halfbridge/tensor.h>

namespace hb {

HB_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
HB_API Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = {});
HB_API Tensor linalg_inv(const Tensor& a);
HB_API Tensor linalg_det(const Tensor& a);
HB_API std::tuple<Tensor, Tensor> linalg_qr(const Tensor& a, std::string_view mode = "reduced");
HB_API Tensor linalg_cholesky(const Tensor& a, bool upper = false);
HB_API std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& a, bool full_matrices = true);
HB_API Tensor linalg_solve(const Tensor& a, const Tensor& b, bool left = true);
HB_API std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& a, std::string_view uplo = "L");
HB_API Tensor linalg_eigvalsh(const Tensor& a, std::string_view uplo = "L");
HB_API Tensor linalg_svdvals(const Tensor& a);
/// Sign and logarithm of the absolute value of the determinant.
HB_API std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& a);
HB_API std::tuple<Tensor, Tensor> slogdet(const Tensor& self);
/// The Moore-Penrose inverse; singular values of at most rcond times the largest count as zero.
HB_API Tensor linalg_pinv(const Tensor& a, double rcond = 1e-15, bool hermitian = false);
HB_API Tensor pinverse(const Tensor& self, double rcond = 1e-15);
HB_API Tensor linalg_matrix_power(const Tensor& self, int64_t n);
/// (LU, pivots of int32 counted from 1) of square matrices; without gradients.
HB_API std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& a, bool pivot = true);
HB_API Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord = std::nullopt,
                          OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                          std::optional<ScalarType> dtype = std::nullopt);
HB_API Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord = 2, OptionalIntArrayRef dim = std::nullopt,
                                 bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt);
HB_API Tensor frobenius_norm(const Tensor& self, IntArrayRef dim, bool keepdim = false);

}  // namespace hb
