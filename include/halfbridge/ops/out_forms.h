#pragma once
// More of the forms name_out(out, …); call_forms.h says what they do. Functions with several results have as many out
// tensors.

#include <halfbridge/ops/call_forms.h>

namespace hb {

#define HB_UNPACK(...) __VA_ARGS__
#define HB_OUT_OF(name, function, params, args)                                    \
  HB_API Tensor& name##_out(Tensor& out, HB_UNPACK params)                         \
      HB_BODY(ops::OutScope scope; const ops::OutOffer offer(out, HB_UNPACK args); \
              return ops::write_out(#name, out, hb::function args);)
#define HB_OUT(name, params, args) HB_OUT_OF(name, name, params, args)
#define HB_OUT_2(name, params, args)                                                           \
  HB_API std::tuple<Tensor&, Tensor&> name##_out(Tensor& out0, Tensor& out1, HB_UNPACK params) \
      HB_BODY(ops::OutScope scope; const auto r = hb::name args;                               \
              return {ops::write_out(#name, out0, std::get<0>(r)), ops::write_out(#name, out1, std::get<1>(r))};)
#define HB_OUT_3(name, params, args)                                                                                  \
  HB_API std::tuple<Tensor&, Tensor&, Tensor&> name##_out(Tensor& out0, Tensor& out1, Tensor& out2, HB_UNPACK params) \
      HB_BODY(ops::OutScope scope; const auto r = hb::name args;                                                      \
              return {ops::write_out(#name, out0, std::get<0>(r)), ops::write_out(#name, out1, std::get<1>(r)),       \
                      ops::write_out(#name, out2, std::get<2>(r))};)
#define HB_OF_ONE(name) HB_OUT(name, (const Tensor& self), (self))
#define HB_OF_TWO(name) HB_OUT(name, (const Tensor& self, const Tensor& other), (self, other))
#define HB_OF_NUMBER(name) HB_OUT(name, (const Tensor& self, const Scalar& other), (self, other))
#define HB_NUMBER_FIRST(name) HB_OUT(name, (const Scalar& self, const Tensor& other), (self, other))

// --- activations and arithmetic
HB_OF_TWO(arctan2)
HB_OUT(celu, (const Tensor& self, const Scalar& alpha = 1), (self, alpha))
HB_OUT(elu, (const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1),
       (self, alpha, scale, input_scale))
HB_OUT(gelu, (const Tensor& self, std::string_view approximate = "none"), (self, approximate))
HB_OUT(glu, (const Tensor& self, int64_t dim = -1), (self, dim))
HB_OUT(hardtanh, (const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1), (self, min_val, max_val))
HB_OUT(leaky_relu, (const Tensor& self, const Scalar& negative_slope = 0.01), (self, negative_slope))
HB_OUT(softplus, (const Tensor& self, const Scalar& beta = 1, const Scalar& threshold = 20), (self, beta, threshold))
HB_OUT(softshrink, (const Tensor& self, const Scalar& lambd = 0.5), (self, lambd))
HB_OUT(threshold, (const Tensor& self, const Scalar& threshold, const Scalar& value), (self, threshold, value))
HB_OUT(complex, (const Tensor& real, const Tensor& imag), (real, imag))
HB_OUT(polar, (const Tensor& abs, const Tensor& angle), (abs, angle))
HB_OF_ONE(conj_physical)
HB_OF_TWO(multiply)
HB_OF_TWO(divide)
HB_OF_TWO(subtract)
HB_OUT(clip, (const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max = {}),
       (self, min, max))
HB_NUMBER_FIRST(bitwise_and)
HB_NUMBER_FIRST(bitwise_or)
HB_NUMBER_FIRST(bitwise_xor)
HB_NUMBER_FIRST(bitwise_left_shift)
HB_NUMBER_FIRST(bitwise_right_shift)
HB_NUMBER_FIRST(float_power)
HB_NUMBER_FIRST(remainder)
HB_NUMBER_FIRST(xlogy)
HB_OUT(rrelu_with_noise,
       (const Tensor& self, Tensor& noise, const Scalar& lower = 0.125, const Scalar& upper = 1.0 / 3,
        bool training = false, std::optional<Generator> generator = std::nullopt),
       (self, noise, lower, upper, training, std::move(generator)))
HB_OUT(bernoulli, (const Tensor& self, const Tensor& p, std::optional<Generator> generator = std::nullopt),
       (self, p, std::move(generator)))
HB_OUT_OF(normal, normal_functional,
          (const Tensor& self, double mean, double std, std::optional<Generator> generator = std::nullopt),
          (self, mean, std, std::move(generator)))
HB_OUT(repeat_interleave, (const Tensor& repeats, std::optional<int64_t> output_size), (repeats, output_size))
HB_OF_TWO(true_divide)
HB_OF_NUMBER(greater)
HB_OF_TWO(greater)
HB_OF_NUMBER(greater_equal)
HB_OF_TWO(greater_equal)
HB_OF_NUMBER(less)
HB_OF_TWO(less)
HB_OF_NUMBER(less_equal)
HB_OF_TWO(less_equal)
HB_OF_NUMBER(not_equal)
HB_OF_TWO(not_equal)
HB_OUT(diff,
       (const Tensor& self, int64_t n = 1, int64_t dim = -1, const std::optional<Tensor>& prepend = {},
        const std::optional<Tensor>& append = {}),
       (self, n, dim, prepend, append))

// --- sums and norms
HB_OUT(bincount, (const Tensor& self, const std::optional<Tensor>& weights = {}, int64_t minlength = 0),
       (self, weights, minlength))
HB_OUT(frobenius_norm, (const Tensor& self, IntArrayRef dim, bool keepdim = false), (self, dim, keepdim))
HB_OUT(nuclear_norm, (const Tensor& self, bool keepdim = false), (self, keepdim))
HB_OUT(nuclear_norm, (const Tensor& self, IntArrayRef dim, bool keepdim = false), (self, dim, keepdim))
HB_OUT_2(std_mean,
         (const Tensor& self, OptionalIntArrayRef dim = std::nullopt,
          const std::optional<Scalar>& correction = std::nullopt, bool keepdim = false),
         (self, dim, correction, keepdim))
HB_OUT_2(var_mean,
         (const Tensor& self, OptionalIntArrayRef dim = std::nullopt,
          const std::optional<Scalar>& correction = std::nullopt, bool keepdim = false),
         (self, dim, correction, keepdim))

// --- joined and cut tensors
HB_OUT(block_diag, (TensorList tensors), (tensors))
HB_OUT(concat, (TensorList tensors, int64_t dim = 0), (tensors, dim))
HB_OUT(concatenate, (TensorList tensors, int64_t dim = 0), (tensors, dim))
HB_OUT(row_stack, (TensorList tensors), (tensors))
HB_OUT(narrow_copy, (const Tensor& self, int64_t dim, int64_t start, int64_t length), (self, dim, start, length))

// --- losses
HB_OUT(binary_cross_entropy_with_logits,
       (const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
        const std::optional<Tensor>& pos_weight = {}, int64_t reduction = loss_reduction::Mean),
       (self, target, weight, pos_weight, reduction))
HB_OUT(huber_loss,
       (const Tensor& self, const Tensor& target, int64_t reduction = loss_reduction::Mean, double delta = 1),
       (self, target, reduction, delta))
HB_OUT(smooth_l1_loss,
       (const Tensor& self, const Tensor& target, int64_t reduction = loss_reduction::Mean, double beta = 1),
       (self, target, reduction, beta))
HB_OUT(soft_margin_loss, (const Tensor& self, const Tensor& target, int64_t reduction = loss_reduction::Mean),
       (self, target, reduction))
HB_OUT(multi_margin_loss,
       (const Tensor& self, const Tensor& target, const Scalar& p = 1, const Scalar& margin = 1,
        const std::optional<Tensor>& weight = {}, int64_t reduction = loss_reduction::Mean),
       (self, target, p, margin, weight, reduction))
HB_OUT(multilabel_margin_loss, (const Tensor& self, const Tensor& target, int64_t reduction = loss_reduction::Mean),
       (self, target, reduction))
HB_OUT(nll_loss2d,
       (const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
        int64_t reduction = loss_reduction::Mean, int64_t ignore_index = -100),
       (self, target, weight, reduction, ignore_index))

// --- layers
HB_OUT(adaptive_avg_pool1d, (const Tensor& self, IntArrayRef output_size), (self, output_size))
HB_OUT(adaptive_avg_pool2d, (const Tensor& self, IntArrayRef output_size), (self, output_size))
HB_OUT(adaptive_avg_pool3d, (const Tensor& self, IntArrayRef output_size), (self, output_size))
HB_OUT_2(adaptive_max_pool2d, (const Tensor& self, IntArrayRef output_size), (self, output_size))
HB_OUT_2(adaptive_max_pool3d, (const Tensor& self, IntArrayRef output_size), (self, output_size))
HB_OUT(avg_pool1d,
       (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
        bool ceil_mode = false, bool count_include_pad = true),
       (self, kernel_size, stride, padding, ceil_mode, count_include_pad))
HB_OUT(avg_pool2d,
       (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
        bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = std::nullopt),
       (self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override))
HB_OUT(avg_pool3d,
       (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
        bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = std::nullopt),
       (self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override))
HB_OUT_2(max_pool2d_with_indices,
         (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
          IntArrayRef dilation = 1, bool ceil_mode = false),
         (self, kernel_size, stride, padding, dilation, ceil_mode))
HB_OUT_2(max_pool3d_with_indices,
         (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
          IntArrayRef dilation = 1, bool ceil_mode = false),
         (self, kernel_size, stride, padding, dilation, ceil_mode))
HB_OUT(max_unpool2d, (const Tensor& self, const Tensor& indices, IntArrayRef output_size), (self, indices, output_size))
HB_OUT(max_unpool3d,
       (const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef stride, IntArrayRef padding),
       (self, indices, output_size, stride, padding))
HB_OUT(im2col,
       (const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride),
       (self, kernel_size, dilation, padding, stride))
HB_OUT(col2im,
       (const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
        IntArrayRef stride),
       (self, output_size, kernel_size, dilation, padding, stride))
HB_OUT(embedding,
       (const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1, bool scale_grad_by_freq = false,
        bool sparse = false),
       (weight, indices, padding_idx, scale_grad_by_freq, sparse))
HB_OUT(constant_pad_nd, (const Tensor& self, IntArrayRef pad, const Scalar& value = 0), (self, pad, value))
HB_OUT(reflection_pad1d, (const Tensor& self, IntArrayRef padding), (self, padding))
HB_OUT(reflection_pad2d, (const Tensor& self, IntArrayRef padding), (self, padding))
HB_OUT(reflection_pad3d, (const Tensor& self, IntArrayRef padding), (self, padding))
HB_OUT(replication_pad1d, (const Tensor& self, IntArrayRef padding), (self, padding))
HB_OUT(replication_pad2d, (const Tensor& self, IntArrayRef padding), (self, padding))
HB_OUT(replication_pad3d, (const Tensor& self, IntArrayRef padding), (self, padding))
HB_OUT(upsample_nearest1d, (const Tensor& self, IntArrayRef output_size, std::optional<double> scales = std::nullopt),
       (self, output_size, scales))
HB_OUT(upsample_nearest2d,
       (const Tensor& self, IntArrayRef output_size, std::optional<double> scales_h = std::nullopt,
        std::optional<double> scales_w = std::nullopt),
       (self, output_size, scales_h, scales_w))
HB_OUT(upsample_nearest2d,
       (const Tensor& input, OptionalIntArrayRef output_size, std::optional<ArrayRef<double>> scale_factors),
       (input, output_size, scale_factors))
HB_OUT(upsample_nearest3d,
       (const Tensor& self, IntArrayRef output_size, std::optional<double> scales_d = std::nullopt,
        std::optional<double> scales_h = std::nullopt, std::optional<double> scales_w = std::nullopt),
       (self, output_size, scales_d, scales_h, scales_w))
HB_OUT(upsample_linear1d,
       (const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales = std::nullopt),
       (self, output_size, align_corners, scales))
HB_OUT(upsample_bilinear2d,
       (const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_h = std::nullopt,
        std::optional<double> scales_w = std::nullopt),
       (self, output_size, align_corners, scales_h, scales_w))
HB_OUT(upsample_bilinear2d,
       (const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
        std::optional<ArrayRef<double>> scale_factors),
       (input, output_size, align_corners, scale_factors))
HB_OUT(upsample_bicubic2d,
       (const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_h = std::nullopt,
        std::optional<double> scales_w = std::nullopt),
       (self, output_size, align_corners, scales_h, scales_w))
HB_OUT(upsample_trilinear3d,
       (const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_d = std::nullopt,
        std::optional<double> scales_h = std::nullopt, std::optional<double> scales_w = std::nullopt),
       (self, output_size, align_corners, scales_d, scales_h, scales_w))

// --- linear algebra
HB_OUT(chain_matmul, (TensorList matrices), (matrices))
HB_OUT_2(linalg_cholesky_ex, (const Tensor& self, bool upper = false, bool check_errors = false),
         (self, upper, check_errors))
HB_OUT(linalg_cond, (const Tensor& self, const std::optional<Scalar>& p = std::nullopt), (self, p))
HB_OUT(linalg_cond, (const Tensor& self, std::string_view p), (self, p))
HB_OUT(linalg_cross, (const Tensor& self, const Tensor& other, int64_t dim = -1), (self, other, dim))
HB_OUT_2(linalg_eig, (const Tensor& self), (self))
HB_OUT_2(linalg_eigh, (const Tensor& self, std::string_view UPLO = "L"), (self, UPLO))
HB_OF_ONE(linalg_eigvals)
HB_OUT(linalg_householder_product, (const Tensor& input, const Tensor& tau), (input, tau))
HB_OUT_2(linalg_inv_ex, (const Tensor& A, bool check_errors = false), (A, check_errors))
HB_OUT_3(linalg_lu_factor_ex, (const Tensor& A, bool pivot = true, bool check_errors = false), (A, pivot, check_errors))
HB_OUT_2(linalg_lu_factor, (const Tensor& A, bool pivot = true), (A, pivot))
HB_OUT_3(linalg_lu, (const Tensor& A, bool pivot = true), (A, pivot))
HB_OUT(linalg_lu_solve,
       (const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left = true, bool adjoint = false),
       (LU, pivots, B, left, adjoint))
HB_OF_TWO(linalg_matmul)
HB_OF_ONE(linalg_matrix_exp)
HB_OUT(linalg_matrix_norm,
       (const Tensor& self, const Scalar& ord, IntArrayRef dim = {-2, -1}, bool keepdim = false,
        std::optional<ScalarType> dtype = std::nullopt),
       (self, ord, dim, keepdim, dtype))
HB_OUT(linalg_matrix_norm,
       (const Tensor& self, std::string_view ord = "fro", IntArrayRef dim = {-2, -1}, bool keepdim = false,
        std::optional<ScalarType> dtype = std::nullopt),
       (self, ord, dim, keepdim, dtype))
HB_OUT(linalg_matrix_power, (const Tensor& self, int64_t n), (self, n))
HB_OUT(linalg_multi_dot, (TensorList tensors), (tensors))
HB_OUT_2(linalg_qr, (const Tensor& A, std::string_view mode = "reduced"), (A, mode))
HB_OUT_2(linalg_slogdet, (const Tensor& A), (A))
HB_OUT_2(linalg_solve_ex, (const Tensor& A, const Tensor& B, bool left = true, bool check_errors = false),
         (A, B, left, check_errors))
HB_OUT(linalg_solve_triangular,
       (const Tensor& self, const Tensor& B, bool upper, bool left = true, bool unitriangular = false),
       (self, B, upper, left, unitriangular))
HB_OUT_3(linalg_svd,
         (const Tensor& A, bool full_matrices = true, std::optional<std::string_view> driver = std::nullopt),
         (A, full_matrices, driver))
HB_OUT(linalg_tensorinv, (const Tensor& self, int64_t ind = 2), (self, ind))
HB_OUT(linalg_tensorsolve, (const Tensor& self, const Tensor& other, OptionalIntArrayRef dims = std::nullopt),
       (self, other, dims))
HB_OUT(linalg_vecdot, (const Tensor& x, const Tensor& y, int64_t dim = -1), (x, y, dim))
HB_OUT_3(lu_unpack,
         (const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data = true, bool unpack_pivots = true),
         (LU_data, LU_pivots, unpack_data, unpack_pivots))
HB_OUT_3(svd, (const Tensor& self, bool some = true, bool compute_uv = true), (self, some, compute_uv))

// --- Fourier transforms
#define HB_LINE(name)                                                                    \
  HB_OUT(name,                                                                           \
         (const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, \
          std::optional<std::string_view> norm = std::nullopt),                          \
         (self, n, dim, norm))
#define HB_PLANE(name)                                                                          \
  HB_OUT(name,                                                                                  \
         (const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, \
          std::optional<std::string_view> norm = std::nullopt),                                 \
         (self, s, dim, norm))
#define HB_SPACE(name)                                                                                      \
  HB_OUT(name,                                                                                              \
         (const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, \
          std::optional<std::string_view> norm = std::nullopt),                                             \
         (self, s, dim, norm))
HB_PLANE(fft_fft2)
HB_LINE(fft_fft)
HB_SPACE(fft_fftn)
HB_PLANE(fft_hfft2)
HB_LINE(fft_hfft)
HB_SPACE(fft_hfftn)
HB_PLANE(fft_ifft2)
HB_LINE(fft_ifft)
HB_SPACE(fft_ifftn)
HB_PLANE(fft_ihfft2)
HB_LINE(fft_ihfft)
HB_SPACE(fft_ihfftn)
HB_PLANE(fft_irfft2)
HB_LINE(fft_irfft)
HB_SPACE(fft_irfftn)
HB_PLANE(fft_rfft2)
HB_LINE(fft_rfft)
HB_SPACE(fft_rfftn)
#undef HB_LINE
#undef HB_PLANE
#undef HB_SPACE

// --- special functions
HB_OF_ONE(special_digamma)
HB_OF_ONE(special_entr)
HB_OF_ONE(special_erf)
HB_OF_ONE(special_erfc)
HB_OF_ONE(special_erfcx)
HB_OF_ONE(special_erfinv)
HB_OF_ONE(special_exp2)
HB_OF_ONE(special_expit)
HB_OF_ONE(special_expm1)
HB_OF_TWO(special_gammainc)
HB_OF_TWO(special_gammaincc)
HB_OF_ONE(special_gammaln)
HB_OF_ONE(special_i0)
HB_OF_ONE(special_i0e)
HB_OF_ONE(special_i1)
HB_OF_ONE(special_i1e)
HB_OF_ONE(special_log1p)
HB_OF_ONE(special_log_ndtr)
HB_OUT(special_logit, (const Tensor& self, std::optional<double> eps = std::nullopt), (self, eps))
HB_OUT(special_logsumexp, (const Tensor& self, IntArrayRef dim, bool keepdim = false), (self, dim, keepdim))
HB_OUT(special_multigammaln, (const Tensor& self, int64_t p), (self, p))
HB_OF_ONE(special_ndtr)
HB_OF_ONE(special_ndtri)
HB_OUT(polygamma, (int64_t n, const Tensor& self), (n, self))
HB_OUT(special_polygamma, (int64_t n, const Tensor& self), (n, self))
HB_OF_ONE(special_psi)
HB_OUT(special_round, (const Tensor& self, int64_t decimals = 0), (self, decimals))
HB_OF_ONE(special_sinc)
HB_OF_TWO(special_xlog1py)
HB_NUMBER_FIRST(special_xlog1py)
HB_OF_NUMBER(special_xlog1py)
HB_OF_TWO(special_xlogy)
HB_NUMBER_FIRST(special_xlogy)
HB_OF_NUMBER(special_xlogy)
HB_OF_TWO(special_zeta)
HB_NUMBER_FIRST(special_zeta)
HB_OF_NUMBER(special_zeta)

#undef HB_OF_ONE
#undef HB_OF_TWO
#undef HB_OF_NUMBER
#undef HB_NUMBER_FIRST
#undef HB_OUT_3
#undef HB_OUT_2
#undef HB_OUT
#undef HB_OUT_OF
#undef HB_UNPACK

}  // namespace hb

namespace hb::special_functions {

#define HB_SPECIAL(name)                                           \
  template <class... Args>                                         \
  Tensor& name##_out(Tensor& out, Args&&... args) {                \
    return special_##name##_out(out, std::forward<Args>(args)...); \
  }
HB_SPECIAL(digamma)
HB_SPECIAL(entr)
HB_SPECIAL(erf)
HB_SPECIAL(erfc)
HB_SPECIAL(erfcx)
HB_SPECIAL(erfinv)
HB_SPECIAL(exp2)
HB_SPECIAL(expit)
HB_SPECIAL(expm1)
HB_SPECIAL(gammainc)
HB_SPECIAL(gammaincc)
HB_SPECIAL(gammaln)
HB_SPECIAL(i0)
HB_SPECIAL(i0e)
HB_SPECIAL(i1)
HB_SPECIAL(i1e)
HB_SPECIAL(log1p)
HB_SPECIAL(log_ndtr)
HB_SPECIAL(logit)
HB_SPECIAL(logsumexp)
HB_SPECIAL(multigammaln)
HB_SPECIAL(ndtr)
HB_SPECIAL(ndtri)
HB_SPECIAL(polygamma)
HB_SPECIAL(psi)
HB_SPECIAL(round)
HB_SPECIAL(sinc)
HB_SPECIAL(xlog1py)
HB_SPECIAL(xlogy)
HB_SPECIAL(zeta)
#undef HB_SPECIAL

}  // namespace hb::special_functions
