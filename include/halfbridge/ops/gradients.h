#pragma once
// Gradients under the names of LibTorch's kernels, which custom functions call in their backward. Each can be
// differentiated again; a `mask` says which of the results are wanted, the others are undefined.

#include <array>

#include <halfbridge/ops/nn.h>

namespace hb {

/// Of convolution(input, weight, bias, …): batched tensors. The weight says how large the bias is.
HB_API TensorTuple3 convolution_backward(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                                         OptionalIntArrayRef bias_sizes, IntArrayRef stride, IntArrayRef padding,
                                         IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                                         int64_t groups, std::array<bool, 3> mask);
/// convolution; what follows `groups` says which library LibTorch asks.
HB_API Tensor _convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                           IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                           IntArrayRef output_padding, int64_t groups, bool benchmark, bool deterministic,
                           bool cudnn_enabled, bool allow_tf32 = true);

// --- of the normalisations: input, weight and bias; mean and rstd are what the forward function gave
HB_API TensorTuple3 native_layer_norm_backward(const Tensor& grad_out, const Tensor& input,
                                               IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
                                               const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                                               std::array<bool, 3> mask);
HB_API TensorTuple3 native_group_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                                               const Tensor& rstd, const std::optional<Tensor>& weight, int64_t n,
                                               int64_t c, int64_t hxw, int64_t group, std::array<bool, 3> mask);
HB_API TensorTuple3 native_batch_norm_backward(const Tensor& grad_out, const Tensor& input,
                                               const std::optional<Tensor>& weight,
                                               const std::optional<Tensor>& running_mean,
                                               const std::optional<Tensor>& running_var,
                                               const std::optional<Tensor>& save_mean,
                                               const std::optional<Tensor>& save_invstd, bool train, double eps,
                                               std::array<bool, 3> mask);

// --- softmax: half_to_float gives float for half; input_dtype is the dtype of the gradient
HB_API Tensor _softmax(const Tensor& self, int64_t dim, bool half_to_float);
HB_API Tensor _log_softmax(const Tensor& self, int64_t dim, bool half_to_float);
HB_API Tensor _softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim,
                                     ScalarType input_dtype);
HB_API Tensor _log_softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim,
                                         ScalarType input_dtype);

// --- of losses, with respect to self
HB_API Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction);
HB_API Tensor smooth_l1_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                      int64_t reduction, double beta);
HB_API Tensor huber_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                  int64_t reduction, double delta);
HB_API Tensor binary_cross_entropy_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                            const std::optional<Tensor>& weight = {},
                                            int64_t reduction = loss_reduction::Mean);

// --- of activations
/// self_or_result is the result of elu where is_result says so.
HB_API Tensor elu_backward(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale,
                           const Scalar& input_scale, bool is_result, const Tensor& self_or_result);
HB_API Tensor softplus_backward(const Tensor& grad_output, const Tensor& self, const Scalar& beta,
                                const Scalar& threshold);
HB_API Tensor hardtanh_backward(const Tensor& grad_output, const Tensor& self, const Scalar& min_val,
                                const Scalar& max_val);
HB_API Tensor softshrink_backward(const Tensor& grad_output, const Tensor& self, const Scalar& lambd);
HB_API Tensor hardshrink_backward(const Tensor& grad_out, const Tensor& self, const Scalar& lambd);
HB_API Tensor glu_backward(const Tensor& grad_output, const Tensor& self, int64_t dim);
HB_API Tensor logit_backward(const Tensor& grad_output, const Tensor& self, std::optional<double> eps = std::nullopt);
HB_API Tensor native_dropout_backward(const Tensor& grad_output, const Tensor& mask, double scale);

// --- of an embedding's weight, of parts, of poolings and resamplings: (N, C, H, W)
HB_API Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                                       int64_t padding_idx, bool scale_grad_by_freq);
HB_API Tensor select_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t index);
HB_API Tensor slice_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t start,
                             int64_t end, int64_t step);
HB_API Tensor max_pool2d_with_indices_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                               IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                               bool ceil_mode, const Tensor& indices);
HB_API Tensor adaptive_max_pool2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& indices);
HB_API Tensor avg_pool2d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                  IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                                  std::optional<int64_t> divisor_override);
HB_API Tensor _adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size);
HB_API Tensor _adaptive_avg_pool2d_backward(const Tensor& grad_output, const Tensor& self);
HB_API Tensor upsample_nearest2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                          std::optional<double> scales_h = std::nullopt,
                                          std::optional<double> scales_w = std::nullopt);
HB_API Tensor upsample_bilinear2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                           bool align_corners, std::optional<double> scales_h = std::nullopt,
                                           std::optional<double> scales_w = std::nullopt);
HB_API Tensor upsample_bicubic2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                          bool align_corners, std::optional<double> scales_h = std::nullopt,
                                          std::optional<double> scales_w = std::nullopt);
HB_API TensorTuple2 grid_sampler_2d_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                                             int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                                             std::array<bool, 2> mask);

}  // namespace hb
