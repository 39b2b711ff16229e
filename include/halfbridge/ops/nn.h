#pragma once
// Convolution, pooling, normalisation, losses, attention: the functions below nn::functional. (N, C, …) layouts.

#include <halfbridge/tensor.h>

namespace hb {

namespace loss_reduction {
enum Reduction { None = 0, Mean = 1, Sum = 2, END };
}

// --- convolution: input (N, Cin, spatial…) or (Cin, spatial…), weight (Cout, Cin / groups, kernel…)
HB_API Tensor conv1d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {},
                     IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1);
HB_API Tensor conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {},
                     IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1);
HB_API Tensor conv3d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {},
                     IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1);
/// padding: "valid" or "same".
HB_API Tensor conv1d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
                     std::string_view padding, IntArrayRef dilation = 1, int64_t groups = 1);
HB_API Tensor conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
                     std::string_view padding, IntArrayRef dilation = 1, int64_t groups = 1);
HB_API Tensor conv3d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
                     std::string_view padding, IntArrayRef dilation = 1, int64_t groups = 1);
/// weight (Cin, Cout / groups, kernel…).
HB_API Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {},
                               IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0,
                               int64_t groups = 1, IntArrayRef dilation = 1);
HB_API Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {},
                               IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0,
                               int64_t groups = 1, IntArrayRef dilation = 1);
HB_API Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {},
                               IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0,
                               int64_t groups = 1, IntArrayRef dilation = 1);
HB_API Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                          IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                          IntArrayRef output_padding, int64_t groups);

// --- pooling
#define HB_POOL(nd)                                                                                      \
  HB_API Tensor max_pool##nd(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},       \
                             IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false); \
  HB_API TensorTuple2 max_pool##nd##_with_indices(const Tensor& self, IntArrayRef kernel_size,           \
                                                  IntArrayRef stride = {}, IntArrayRef padding = 0,      \
                                                  IntArrayRef dilation = 1, bool ceil_mode = false);     \
  HB_API Tensor adaptive_avg_pool##nd(const Tensor& self, IntArrayRef output_size);                      \
  HB_API TensorTuple2 adaptive_max_pool##nd(const Tensor& self, IntArrayRef output_size);                \
  HB_API Tensor max_unpool##nd(const Tensor& self, const Tensor& indices, IntArrayRef output_size);
HB_POOL(1d)
HB_POOL(2d)
HB_POOL(3d)
#undef HB_POOL
/// stride and padding: those of the pooling, which output_size already says.
inline Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef /*stride*/,
                           IntArrayRef /*padding*/) {
  return max_unpool3d(self, indices, output_size);
}
HB_API Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
                         bool ceil_mode = false, bool count_include_pad = true);
HB_API Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
                         bool ceil_mode = false, bool count_include_pad = true,
                         std::optional<int64_t> divisor_override = std::nullopt);
HB_API Tensor avg_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
                         bool ceil_mode = false, bool count_include_pad = true,
                         std::optional<int64_t> divisor_override = std::nullopt);

// --- normalisation
HB_API Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                         const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
                         bool training, double momentum, double eps, bool cudnn_enabled = true);
HB_API Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight = {},
                         const std::optional<Tensor>& bias = {}, double eps = 1e-05, bool cudnn_enable = true);
HB_API Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight = {},
                       std::optional<double> eps = std::nullopt);
HB_API Tensor group_norm(const Tensor& input, int64_t num_groups, const std::optional<Tensor>& weight = {},
                         const std::optional<Tensor>& bias = {}, double eps = 1e-05, bool cudnn_enabled = true);
HB_API Tensor instance_norm(const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                            const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
                            bool use_input_stats, double momentum, double eps, bool cudnn_enabled = true);
/// The same with what a gradient is made of: (result, mean, 1 / standard deviation). The last two have no history.
HB_API TensorTuple3 native_layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                                      const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                                      double eps);
/// input (N, C, …) with HxW elements per channel.
HB_API TensorTuple3 native_group_norm(const Tensor& input, const std::optional<Tensor>& weight,
                                      const std::optional<Tensor>& bias, int64_t n, int64_t c, int64_t hxw,
                                      int64_t group, double eps);
/// Outside of training the statistics are empty.
HB_API TensorTuple3 native_batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                                      const std::optional<Tensor>& bias, const std::optional<Tensor>& running_mean,
                                      const std::optional<Tensor>& running_var, bool training, double momentum,
                                      double eps);

// --- losses; reduction is loss_reduction::None, Mean or Sum
HB_API Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction = loss_reduction::Mean);
HB_API Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction = loss_reduction::Mean);
HB_API Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction = loss_reduction::Mean,
                             double beta = 1.0);
HB_API Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction = loss_reduction::Mean,
                         double delta = 1.0);
/// self (N, C, …) log-probabilities, target (N, …) class numbers.
HB_API Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                       int64_t reduction = loss_reduction::Mean, int64_t ignore_index = -100);
HB_API Tensor nll_loss2d(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                         int64_t reduction = loss_reduction::Mean, int64_t ignore_index = -100);
/// nll_loss of any number of dimensions: self (C), (N, C) or (N, C, …).
HB_API Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = std::nullopt,
                          int64_t reduction = loss_reduction::Mean, int64_t ignore_index = -100);
HB_API Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                                 int64_t reduction = loss_reduction::Mean, int64_t ignore_index = -100,
                                 double label_smoothing = 0.0);
HB_API Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                                   int64_t reduction = loss_reduction::Mean);
HB_API Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                               const std::optional<Tensor>& weight = {},
                                               const std::optional<Tensor>& pos_weight = {},
                                               int64_t reduction = loss_reduction::Mean);
HB_API Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction = loss_reduction::Mean,
                     bool log_target = false);
HB_API Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction = loss_reduction::Mean);
HB_API Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin = 1.0,
                                   int64_t reduction = loss_reduction::Mean);
HB_API Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                    double margin = 0.0, int64_t reduction = loss_reduction::Mean);
HB_API Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin = 0.0,
                                  int64_t reduction = loss_reduction::Mean);
HB_API Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                  double margin = 1.0, double p = 2, double eps = 1e-6, bool swap = false,
                                  int64_t reduction = loss_reduction::Mean);
HB_API Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
                               int64_t reduction);
HB_API Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p = 1, const Scalar& margin = 1,
                                const std::optional<Tensor>& weight = {}, int64_t reduction = loss_reduction::Mean);
HB_API Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target,
                                     int64_t reduction = loss_reduction::Mean);
HB_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                       IntArrayRef target_lengths, int64_t blank = 0, int64_t reduction = loss_reduction::Mean,
                       bool zero_infinity = false);
HB_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                       const Tensor& target_lengths, int64_t blank = 0, int64_t reduction = loss_reduction::Mean,
                       bool zero_infinity = false);

// --- embedding, attention
HB_API Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1,
                        bool scale_grad_by_freq = false, bool sparse = false);
HB_API Tensor& embedding_renorm_(Tensor& self, const Tensor& indices, double max_norm, double norm_type);
HB_API Tensor one_hot(const Tensor& self, int64_t num_classes = -1);
/// query (…, L, E), key (…, S, E), value (…, S, Ev); attn_mask broadcast to (…, L, S), bool or added.
HB_API Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                           const std::optional<Tensor>& attn_mask = std::nullopt,
                                           double dropout_p = 0.0, bool is_causal = false,
                                           std::optional<double> scale = std::nullopt, bool enable_gqa = false);

// --- padding, resampling, rearranging
HB_API Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value = 0);
/// mode: "constant", "reflect", "replicate", "circular".
HB_API Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode = "constant",
                  std::optional<double> value = std::nullopt);
HB_API Tensor reflection_pad1d(const Tensor& self, IntArrayRef padding);
HB_API Tensor reflection_pad2d(const Tensor& self, IntArrayRef padding);
HB_API Tensor reflection_pad3d(const Tensor& self, IntArrayRef padding);
HB_API Tensor replication_pad1d(const Tensor& self, IntArrayRef padding);
HB_API Tensor replication_pad2d(const Tensor& self, IntArrayRef padding);
HB_API Tensor replication_pad3d(const Tensor& self, IntArrayRef padding);
HB_API Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales = std::nullopt);
HB_API Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales_h = std::nullopt,
                                 std::optional<double> scales_w = std::nullopt);
HB_API Tensor upsample_nearest3d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales_d = std::nullopt,
                                 std::optional<double> scales_h = std::nullopt,
                                 std::optional<double> scales_w = std::nullopt);
HB_API Tensor upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                std::optional<double> scales = std::nullopt);
HB_API Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                  std::optional<double> scales_h = std::nullopt,
                                  std::optional<double> scales_w = std::nullopt);
HB_API Tensor upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                 std::optional<double> scales_h = std::nullopt,
                                 std::optional<double> scales_w = std::nullopt);
HB_API Tensor upsample_trilinear3d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                   std::optional<double> scales_d = std::nullopt,
                                   std::optional<double> scales_h = std::nullopt,
                                   std::optional<double> scales_w = std::nullopt);
/// At the elements next to where the output elements' centres fall.
HB_API Tensor _upsample_nearest_exact1d(const Tensor& self, IntArrayRef output_size,
                                        std::optional<double> scales = std::nullopt);
HB_API Tensor _upsample_nearest_exact2d(const Tensor& self, IntArrayRef output_size,
                                        std::optional<double> scales_h = std::nullopt,
                                        std::optional<double> scales_w = std::nullopt);
HB_API Tensor _upsample_nearest_exact3d(const Tensor& self, IntArrayRef output_size,
                                        std::optional<double> scales_d = std::nullopt,
                                        std::optional<double> scales_h = std::nullopt,
                                        std::optional<double> scales_w = std::nullopt);
/// By the triangle, made wider by the ratio where it shrinks.
HB_API Tensor _upsample_bilinear2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                      std::optional<double> scales_h = std::nullopt,
                                      std::optional<double> scales_w = std::nullopt);
/// By Keys' cubic with a = -0.5, made wider by the ratio where it shrinks.
HB_API Tensor _upsample_bicubic2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                     std::optional<double> scales_h = std::nullopt,
                                     std::optional<double> scales_w = std::nullopt);
// The same with a size or scale factors for all dimensions.
HB_API Tensor upsample_nearest1d(const Tensor& self, OptionalIntArrayRef output_size,
                                 std::optional<ArrayRef<double>> scale_factors);
HB_API Tensor upsample_nearest2d(const Tensor& self, OptionalIntArrayRef output_size,
                                 std::optional<ArrayRef<double>> scale_factors);
HB_API Tensor upsample_nearest3d(const Tensor& self, OptionalIntArrayRef output_size,
                                 std::optional<ArrayRef<double>> scale_factors);
HB_API Tensor upsample_linear1d(const Tensor& self, OptionalIntArrayRef output_size, bool align_corners,
                                std::optional<ArrayRef<double>> scale_factors);
HB_API Tensor upsample_bilinear2d(const Tensor& self, OptionalIntArrayRef output_size, bool align_corners,
                                  std::optional<ArrayRef<double>> scale_factors);
HB_API Tensor upsample_bicubic2d(const Tensor& self, OptionalIntArrayRef output_size, bool align_corners,
                                 std::optional<ArrayRef<double>> scale_factors);
HB_API Tensor upsample_trilinear3d(const Tensor& self, OptionalIntArrayRef output_size, bool align_corners,
                                   std::optional<ArrayRef<double>> scale_factors);
HB_API Tensor _upsample_nearest_exact1d(const Tensor& self, OptionalIntArrayRef output_size,
                                        std::optional<ArrayRef<double>> scale_factors);
HB_API Tensor _upsample_nearest_exact2d(const Tensor& self, OptionalIntArrayRef output_size,
                                        std::optional<ArrayRef<double>> scale_factors);
HB_API Tensor _upsample_nearest_exact3d(const Tensor& self, OptionalIntArrayRef output_size,
                                        std::optional<ArrayRef<double>> scale_factors);
HB_API Tensor _upsample_bilinear2d_aa(const Tensor& self, OptionalIntArrayRef output_size, bool align_corners,
                                      std::optional<ArrayRef<double>> scale_factors);
HB_API Tensor _upsample_bicubic2d_aa(const Tensor& self, OptionalIntArrayRef output_size, bool align_corners,
                                     std::optional<ArrayRef<double>> scale_factors);
HB_API Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor);
HB_API Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor);
HB_API Tensor channel_shuffle(const Tensor& self, int64_t groups);
HB_API Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                     IntArrayRef stride);
HB_API Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
                     IntArrayRef padding, IntArrayRef stride);
HB_API Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                           bool align_corners);
HB_API Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners);
HB_API Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim = 1, double eps = 1e-08);
HB_API Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-06,
                                bool keepdim = false);
HB_API Tensor pdist(const Tensor& self, double p = 2);

// --- recurrent networks: one layer's cell
HB_API TensorTuple2 lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh,
                              const std::optional<Tensor>& b_ih = {}, const std::optional<Tensor>& b_hh = {});
HB_API Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                       const std::optional<Tensor>& b_ih = {}, const std::optional<Tensor>& b_hh = {});
HB_API Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                            const std::optional<Tensor>& b_ih = {}, const std::optional<Tensor>& b_hh = {});
HB_API Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                            const std::optional<Tensor>& b_ih = {}, const std::optional<Tensor>& b_hh = {});

}  // namespace hb
