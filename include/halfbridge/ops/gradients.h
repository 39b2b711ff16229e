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
HB_API Tensor soft_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                        int64_t reduction);
HB_API Tensor multi_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                         const Scalar& p, const Scalar& margin,
                                         const std::optional<Tensor>& weight = {},
                                         int64_t reduction = loss_reduction::Mean);
/// The loss, and which classes are among the target's.
HB_API TensorTuple2 multilabel_margin_loss_forward(const Tensor& self, const Tensor& target, int64_t reduction);
HB_API Tensor multilabel_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                              int64_t reduction, const Tensor& is_target);
/// The loss, and the sum of the weights of what counts (0 where nothing is summed), which the gradient of a mean is
/// divided by.
HB_API TensorTuple2 nll_loss_forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                                     int64_t reduction, int64_t ignore_index);
HB_API Tensor nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
                                const Tensor& total_weight);
HB_API TensorTuple2 nll_loss2d_forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                                       int64_t reduction, int64_t ignore_index);
HB_API Tensor nll_loss2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                  const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
                                  const Tensor& total_weight);

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
/// log_sigmoid, and exp(-|self|).
HB_API TensorTuple2 log_sigmoid_forward(const Tensor& self);
HB_API Tensor log_sigmoid_backward(const Tensor& grad_output, const Tensor& self, const Tensor& buffer);
/// noise: the factors that rrelu_with_noise drew in training.
HB_API Tensor rrelu_with_noise_backward(const Tensor& grad_output, const Tensor& self, const Tensor& noise,
                                        const Scalar& lower, const Scalar& upper, bool training, bool self_is_result);
HB_API Tensor infinitely_differentiable_gelu_backward(const Tensor& grad, const Tensor& self);
/// prelu with a weight that broadcasts to self, and its gradients, that of the weight not summed.
HB_API Tensor _prelu_kernel(const Tensor& self, const Tensor& weight);
HB_API TensorTuple2 _prelu_kernel_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight);

// --- of distances: with respect to x1 and self
HB_API Tensor _cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode);
HB_API Tensor _cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& cdist);
HB_API Tensor _pdist_forward(const Tensor& self, double p = 2);
HB_API Tensor _pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist);

// --- of an embedding's weight and of parts
HB_API Tensor embedding_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                                 bool scale_grad_by_freq, bool sparse);
HB_API Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                                       int64_t padding_idx, bool scale_grad_by_freq);
HB_API Tensor select_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t index);
HB_API Tensor slice_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t start,
                             int64_t end, int64_t step);
HB_API Tensor diagonal_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t offset, int64_t dim1,
                                int64_t dim2);
HB_API Tensor trace_backward(const Tensor& grad, IntArrayRef sizes);
HB_API Tensor unfold_backward(const Tensor& grad_in, IntArrayRef input_sizes, int64_t dim, int64_t size, int64_t step);
HB_API Tensor gather_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
                              bool sparse_grad);
HB_API Tensor masked_select_backward(const Tensor& grad, const Tensor& input, const Tensor& mask);
/// Of masked_scatter's source.
HB_API Tensor masked_scatter_backward(const Tensor& grad_output, const Tensor& mask, IntArrayRef sizes);
/// Of a reduction that takes the elements at `indices`.
HB_API Tensor value_selecting_reduction_backward(const Tensor& grad, int64_t dim, const Tensor& indices,
                                                 IntArrayRef sizes, bool keepdim);
HB_API Tensor cumprod_backward(const Tensor& grad, const Tensor& input, int64_t dim, const Tensor& output);
HB_API Tensor cummaxmin_backward(const Tensor& grad, const Tensor& input, const Tensor& indices, int64_t dim);
HB_API Tensor matrix_exp_backward(const Tensor& self, const Tensor& grad);

// --- of poolings, paddings and resamplings: (N, C, …), for most without N too
HB_API Tensor max_pool2d_with_indices_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                               IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                               bool ceil_mode, const Tensor& indices);
HB_API Tensor adaptive_max_pool2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& indices);
HB_API Tensor avg_pool2d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                  IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                                  std::optional<int64_t> divisor_override);
HB_API Tensor max_pool3d_with_indices_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                               IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                               bool ceil_mode, const Tensor& indices);
HB_API Tensor adaptive_max_pool3d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& indices);
HB_API Tensor avg_pool3d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                  IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                                  std::optional<int64_t> divisor_override);
HB_API Tensor _adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size);
HB_API Tensor _adaptive_avg_pool3d_backward(const Tensor& grad_output, const Tensor& self);
HB_API Tensor _adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size);
HB_API Tensor _adaptive_avg_pool2d_backward(const Tensor& grad_output, const Tensor& self);
#define HB_PADDING(name) \
  HB_API Tensor name##_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef padding);
HB_PADDING(reflection_pad1d)
HB_PADDING(reflection_pad2d)
HB_PADDING(reflection_pad3d)
HB_PADDING(replication_pad1d)
HB_PADDING(replication_pad2d)
HB_PADDING(replication_pad3d)
#undef HB_PADDING
HB_API Tensor upsample_nearest1d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                          std::optional<double> scales = std::nullopt);
HB_API Tensor upsample_nearest2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                          std::optional<double> scales_h = std::nullopt,
                                          std::optional<double> scales_w = std::nullopt);
HB_API Tensor upsample_nearest3d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                          std::optional<double> scales_d = std::nullopt,
                                          std::optional<double> scales_h = std::nullopt,
                                          std::optional<double> scales_w = std::nullopt);
HB_API Tensor _upsample_nearest_exact1d_backward(const Tensor& grad_output, IntArrayRef output_size,
                                                 IntArrayRef input_size, std::optional<double> scales = std::nullopt);
HB_API Tensor _upsample_nearest_exact2d_backward(const Tensor& grad_output, IntArrayRef output_size,
                                                 IntArrayRef input_size, std::optional<double> scales_h = std::nullopt,
                                                 std::optional<double> scales_w = std::nullopt);
HB_API Tensor _upsample_nearest_exact3d_backward(const Tensor& grad_output, IntArrayRef output_size,
                                                 IntArrayRef input_size, std::optional<double> scales_d = std::nullopt,
                                                 std::optional<double> scales_h = std::nullopt,
                                                 std::optional<double> scales_w = std::nullopt);
HB_API Tensor upsample_linear1d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                         bool align_corners, std::optional<double> scales = std::nullopt);
HB_API Tensor upsample_bilinear2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                           bool align_corners, std::optional<double> scales_h = std::nullopt,
                                           std::optional<double> scales_w = std::nullopt);
HB_API Tensor upsample_bicubic2d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                          bool align_corners, std::optional<double> scales_h = std::nullopt,
                                          std::optional<double> scales_w = std::nullopt);
HB_API Tensor upsample_trilinear3d_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                                            bool align_corners, std::optional<double> scales_d = std::nullopt,
                                            std::optional<double> scales_h = std::nullopt,
                                            std::optional<double> scales_w = std::nullopt);
HB_API Tensor _upsample_bilinear2d_aa_backward(const Tensor& grad_output, IntArrayRef output_size,
                                               IntArrayRef input_size, bool align_corners,
                                               std::optional<double> scales_h = std::nullopt,
                                               std::optional<double> scales_w = std::nullopt);
HB_API Tensor _upsample_bicubic2d_aa_backward(const Tensor& grad_output, IntArrayRef output_size,
                                              IntArrayRef input_size, bool align_corners,
                                              std::optional<double> scales_h = std::nullopt,
                                              std::optional<double> scales_w = std::nullopt);
HB_API TensorTuple2 grid_sampler_2d_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                                             int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                                             std::array<bool, 2> mask);
HB_API TensorTuple2 grid_sampler_3d_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                                             int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                                             std::array<bool, 2> mask);
HB_API Tensor affine_grid_generator_backward(const Tensor& grad, IntArrayRef size, bool align_corners);

}  // namespace hb
