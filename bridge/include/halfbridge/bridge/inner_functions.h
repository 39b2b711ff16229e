#pragma once
// Functions under the names of LibTorch's own kernels, which programs call too.

#include <optional>
#include <tuple>
#include <vector>

#include <halfbridge/array_ref.h>
#include <halfbridge/options.h>
#include <halfbridge/tensor.h>

namespace hb::bridge {
inline namespace api {

/// grid_sampler of (N, C, H, W), and of (N, C, D, H, W).
HB_API Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                              bool align_corners);
HB_API Tensor grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                              bool align_corners);

// Convolutions. `kernel_size` repeats the last dimensions of `weight`; another one is an error.
HB_API Tensor thnn_conv2d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                          const std::optional<Tensor>& bias = {}, IntArrayRef stride = 1, IntArrayRef padding = 0);
HB_API Tensor slow_conv3d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                          const std::optional<Tensor>& bias = {}, IntArrayRef stride = 1, IntArrayRef padding = 0);
HB_API Tensor slow_conv_dilated2d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                                  const std::optional<Tensor>& bias = {}, IntArrayRef stride = 1,
                                  IntArrayRef padding = 0, IntArrayRef dilation = 1);
HB_API Tensor slow_conv_dilated3d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                                  const std::optional<Tensor>& bias = {}, IntArrayRef stride = 1,
                                  IntArrayRef padding = 0, IntArrayRef dilation = 1);
HB_API Tensor slow_conv_transpose2d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                                    const std::optional<Tensor>& bias = {}, IntArrayRef stride = 1,
                                    IntArrayRef padding = 0, IntArrayRef output_padding = 0, IntArrayRef dilation = 1);
HB_API Tensor slow_conv_transpose3d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                                    const std::optional<Tensor>& bias = {}, IntArrayRef stride = 1,
                                    IntArrayRef padding = 0, IntArrayRef output_padding = 0, IntArrayRef dilation = 1);
/// A convolution over time: self (T, N, Cin), weight (K, Cin, Cout), bias (Cout); the result is (T', N, Cout).
HB_API Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad = 0);

/// A convolution of 3 dimensions with a group for each channel.
HB_API Tensor conv_depthwise3d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                               const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                               IntArrayRef dilation);
HB_API Tensor native_channel_shuffle(const Tensor& self, int64_t groups);
/// The norm of all entries of a sparse tensor (COO). dim: none or all dimensions; keepdim is an error.
HB_API Tensor native_norm(const Tensor& self, const Scalar& p = 2);
HB_API Tensor native_norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype);
/// The sum of the powers of absolute values.
HB_API Tensor linalg__powsum(const Tensor& self, const Scalar& ord = 2, OptionalIntArrayRef dim = std::nullopt,
                             bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt);

/// The methods of sparse tensors that change one, as functions; without _ of a copy.
HB_API const Tensor& resize_as_sparse_(const Tensor& self, const Tensor& the_template);
HB_API Tensor resize_as_sparse(const Tensor& self, const Tensor& the_template);
HB_API Tensor sparse_resize(const Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim);
HB_API Tensor sparse_resize_and_clear(const Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim);

/// The places of elements that are not zero, a tensor per dimension.
HB_API std::vector<Tensor> nonzero_numpy(const Tensor& self);
/// embedding_renorm_ of a copy.
HB_API Tensor embedding_renorm(const Tensor& self, const Tensor& indices, double max_norm, double norm_type);

// --- functions whose usual forms have other names

/// The determinant, the factors that it was computed with, and their pivots; the second, its sign and the logarithm of
/// its absolute value first. The factors of a contiguous matrix are those of its transpose.
HB_API std::tuple<Tensor, Tensor, Tensor> _linalg_det(const Tensor& A);
HB_API std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_slogdet(const Tensor& A);
/// linalg_solve_ex: the solution, A's factors, their pivots, and info.
HB_API std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_solve_ex(const Tensor& A, const Tensor& B, bool left = true,
                                                                   bool check_errors = false);
HB_API Tensor _slow_conv2d_forward(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                                   const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding);
HB_API Tensor slow_conv3d_forward(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                                  const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding);
HB_API Tensor _grid_sampler_2d_cpu_fallback(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                                            int64_t padding_mode, bool align_corners);
HB_API std::tuple<Tensor, Tensor> _grid_sampler_2d_cpu_fallback_backward(const Tensor& grad_output, const Tensor& input,
                                                                         const Tensor& grid, int64_t interpolation_mode,
                                                                         int64_t padding_mode, bool align_corners);
/// How glu's result changes with dx, where glu is its result for x.
HB_API Tensor glu_jvp(const Tensor& glu, const Tensor& x, const Tensor& dx, int64_t dim);
/// rrelu_with_noise, and the noise that it has drawn; `noise` stays as it is.
HB_API std::tuple<Tensor, Tensor> rrelu_with_noise_functional(const Tensor& self, const Tensor& noise,
                                                              const Scalar& lower = 0.125,
                                                              const Scalar& upper = 0.3333333333333333,
                                                              bool training = false,
                                                              std::optional<Generator> generator = std::nullopt);
/// Gradients of (v, g) from that of _weight_norm_interface's result, whose second one is saved_norms.
HB_API std::tuple<Tensor, Tensor> _weight_norm_interface_backward(const Tensor& grad_w, const Tensor& saved_v,
                                                                  const Tensor& saved_g, const Tensor& saved_norms,
                                                                  int64_t dim);
/// A copy of a sparse tensor that says whether it is coalesced, unchecked.
HB_API Tensor _coalesced(const Tensor& self, bool coalesced);
HB_API Tensor& copy_sparse_to_sparse_(Tensor& self, const Tensor& src, bool non_blocking = false);
HB_API Tensor copy_sparse_to_sparse(const Tensor& self, const Tensor& src, bool non_blocking = false);

}  // namespace api
}  // namespace hb::bridge
