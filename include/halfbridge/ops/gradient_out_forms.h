#pragma once
// name_out(grad_input, …) of the gradients in ops/gradients.h; call_forms.h says what such forms do. Where a mask
// leaves a result out, its out tensor stays as it was.

#include <halfbridge/ops/gradients.h>
#include <halfbridge/ops/out_forms.h>

namespace hb {

#define HB_UNPACK(...) __VA_ARGS__
#define HB_WRITE(name, out, i) \
  if (std::get<i>(r).defined()) ops::write_out(#name, out, std::get<i>(r))
#define HB_OUT(name, params, args)                                                 \
  HB_API Tensor& name##_out(Tensor& out, HB_UNPACK params)                         \
      HB_BODY(ops::OutScope scope; const ops::OutOffer offer(out, HB_UNPACK args); \
              return ops::write_out(#name, out, hb::name args);)
#define HB_OUT_2(name, params, args)                                                                               \
  HB_API std::tuple<Tensor&, Tensor&> name##_out(Tensor& out0, Tensor& out1, HB_UNPACK params)                     \
      HB_BODY(ops::OutScope scope; const auto r = hb::name args; HB_WRITE(name, out0, 0); HB_WRITE(name, out1, 1); \
              return {out0, out1};)
#define HB_OUT_3(name, params, args)                                                                                  \
  HB_API std::tuple<Tensor&, Tensor&, Tensor&> name##_out(Tensor& out0, Tensor& out1, Tensor& out2, HB_UNPACK params) \
      HB_BODY(ops::OutScope scope; const auto r = hb::name args; HB_WRITE(name, out0, 0); HB_WRITE(name, out1, 1);    \
              HB_WRITE(name, out2, 2); return {out0, out1, out2};)

HB_OUT_3(convolution_backward,
         (const Tensor& grad_output, const Tensor& input, const Tensor& weight, OptionalIntArrayRef bias_sizes,
          IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
          int64_t groups, std::array<bool, 3> mask),
         (grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask))
HB_OUT_3(native_layer_norm_backward,
         (const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean,
          const Tensor& rstd, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
          std::array<bool, 3> mask),
         (grad_out, input, normalized_shape, mean, rstd, weight, bias, mask))
HB_OUT_3(native_group_norm_backward,
         (const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd,
          const std::optional<Tensor>& weight, int64_t n, int64_t c, int64_t hxw, int64_t group,
          std::array<bool, 3> mask),
         (grad_out, input, mean, rstd, weight, n, c, hxw, group, mask))
HB_OUT_3(native_batch_norm_backward,
         (const Tensor& grad_out, const Tensor& input, const std::optional<Tensor>& weight,
          const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
          const std::optional<Tensor>& save_mean, const std::optional<Tensor>& save_invstd, bool train, double eps,
          std::array<bool, 3> mask),
         (grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, mask))
HB_OUT(_softmax_backward_data, (const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype),
       (grad_output, output, dim, input_dtype))
HB_OUT(_log_softmax_backward_data,
       (const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype),
       (grad_output, output, dim, input_dtype))
HB_OUT(mse_loss_backward, (const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction),
       (grad_output, self, target, reduction))
HB_OUT(smooth_l1_loss_backward,
       (const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, double beta),
       (grad_output, self, target, reduction, beta))
HB_OUT(huber_loss_backward,
       (const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, double delta),
       (grad_output, self, target, reduction, delta))
HB_OUT(binary_cross_entropy_backward,
       (const Tensor& grad_output, const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
        int64_t reduction = loss_reduction::Mean),
       (grad_output, self, target, weight, reduction))
HB_OUT(soft_margin_loss_backward,
       (const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction),
       (grad_output, self, target, reduction))
HB_OUT(multi_margin_loss_backward,
       (const Tensor& grad_output, const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
        const std::optional<Tensor>& weight = {}, int64_t reduction = loss_reduction::Mean),
       (grad_output, self, target, p, margin, weight, reduction))
HB_OUT_2(multilabel_margin_loss_forward, (const Tensor& self, const Tensor& target, int64_t reduction),
         (self, target, reduction))
HB_OUT(multilabel_margin_loss_backward,
       (const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction,
        const Tensor& is_target),
       (grad_output, self, target, reduction, is_target))
HB_OUT_2(nll_loss_forward,
         (const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
          int64_t ignore_index),
         (self, target, weight, reduction, ignore_index))
HB_OUT(nll_loss_backward,
       (const Tensor& grad_output, const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
        int64_t reduction, int64_t ignore_index, const Tensor& total_weight),
       (grad_output, self, target, weight, reduction, ignore_index, total_weight))
HB_OUT_2(nll_loss2d_forward,
         (const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
          int64_t ignore_index),
         (self, target, weight, reduction, ignore_index))
HB_OUT(nll_loss2d_backward,
       (const Tensor& grad_output, const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
        int64_t reduction, int64_t ignore_index, const Tensor& total_weight),
       (grad_output, self, target, weight, reduction, ignore_index, total_weight))
HB_OUT(elu_backward,
       (const Tensor& grad_output, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale, bool is_result,
        const Tensor& self_or_result),
       (grad_output, alpha, scale, input_scale, is_result, self_or_result))
HB_OUT(softplus_backward, (const Tensor& grad_output, const Tensor& self, const Scalar& beta, const Scalar& threshold),
       (grad_output, self, beta, threshold))
HB_OUT(hardtanh_backward, (const Tensor& grad_output, const Tensor& self, const Scalar& min_val, const Scalar& max_val),
       (grad_output, self, min_val, max_val))
HB_OUT(softshrink_backward, (const Tensor& grad_output, const Tensor& self, const Scalar& lambd),
       (grad_output, self, lambd))
HB_OUT(hardshrink_backward, (const Tensor& grad_out, const Tensor& self, const Scalar& lambd), (grad_out, self, lambd))
HB_OUT(glu_backward, (const Tensor& grad_output, const Tensor& self, int64_t dim), (grad_output, self, dim))
HB_OUT(logit_backward, (const Tensor& grad_output, const Tensor& self, std::optional<double> eps = std::nullopt),
       (grad_output, self, eps))
HB_OUT(native_dropout_backward, (const Tensor& grad_output, const Tensor& mask, double scale),
       (grad_output, mask, scale))
HB_OUT_2(log_sigmoid_forward, (const Tensor& self), (self))
HB_OUT(log_sigmoid_backward, (const Tensor& grad_output, const Tensor& self, const Tensor& buffer),
       (grad_output, self, buffer))
HB_OUT(rrelu_with_noise_backward,
       (const Tensor& grad_output, const Tensor& self, const Tensor& noise, const Scalar& lower, const Scalar& upper,
        bool training, bool self_is_result),
       (grad_output, self, noise, lower, upper, training, self_is_result))
HB_OUT(_cdist_forward, (const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode),
       (x1, x2, p, compute_mode))
HB_OUT(_cdist_backward, (const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& cdist),
       (grad, x1, x2, p, cdist))
HB_OUT(_pdist_forward, (const Tensor& self, double p = 2), (self, p))
HB_OUT(_pdist_backward, (const Tensor& grad, const Tensor& self, double p, const Tensor& pdist), (grad, self, p, pdist))
HB_OUT(embedding_dense_backward,
       (const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
        bool scale_grad_by_freq),
       (grad_output, indices, num_weights, padding_idx, scale_grad_by_freq))
HB_OUT(select_backward, (const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t index),
       (grad_output, input_sizes, dim, index))
HB_OUT(slice_backward,
       (const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t start, int64_t end, int64_t step),
       (grad_output, input_sizes, dim, start, end, step))
HB_OUT(diagonal_backward,
       (const Tensor& grad_output, IntArrayRef input_sizes, int64_t offset, int64_t dim1, int64_t dim2),
       (grad_output, input_sizes, offset, dim1, dim2))
HB_OUT(unfold_backward, (const Tensor& grad_in, IntArrayRef input_sizes, int64_t dim, int64_t size, int64_t step),
       (grad_in, input_sizes, dim, size, step))
HB_OUT(max_pool2d_with_indices_backward,
       (const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
        IntArrayRef dilation, bool ceil_mode, const Tensor& indices),
       (grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices))
HB_OUT(adaptive_max_pool2d_backward, (const Tensor& grad_output, const Tensor& self, const Tensor& indices),
       (grad_output, self, indices))
HB_OUT(avg_pool2d_backward,
       (const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
        bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override),
       (grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override))
HB_OUT(max_pool3d_with_indices_backward,
       (const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
        IntArrayRef dilation, bool ceil_mode, const Tensor& indices),
       (grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices))
HB_OUT(adaptive_max_pool3d_backward, (const Tensor& grad_output, const Tensor& self, const Tensor& indices),
       (grad_output, self, indices))
HB_OUT(avg_pool3d_backward,
       (const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
        bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override),
       (grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override))
HB_OUT(_adaptive_avg_pool3d_backward, (const Tensor& grad_output, const Tensor& self), (grad_output, self))
HB_OUT(_adaptive_avg_pool2d_backward, (const Tensor& grad_output, const Tensor& self), (grad_output, self))
HB_OUT(upsample_nearest1d_backward,
       (const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
        std::optional<double> scales = std::nullopt),
       (grad_output, output_size, input_size, scales))
HB_OUT(upsample_nearest2d_backward,
       (const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
        std::optional<double> scales_h = std::nullopt, std::optional<double> scales_w = std::nullopt),
       (grad_output, output_size, input_size, scales_h, scales_w))
HB_OUT(upsample_nearest3d_backward,
       (const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
        std::optional<double> scales_d = std::nullopt, std::optional<double> scales_h = std::nullopt,
        std::optional<double> scales_w = std::nullopt),
       (grad_output, output_size, input_size, scales_d, scales_h, scales_w))
HB_OUT(_upsample_nearest_exact1d_backward,
       (const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
        std::optional<double> scales = std::nullopt),
       (grad_output, output_size, input_size, scales))
HB_OUT(_upsample_nearest_exact2d_backward,
       (const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
        std::optional<double> scales_h = std::nullopt, std::optional<double> scales_w = std::nullopt),
       (grad_output, output_size, input_size, scales_h, scales_w))
HB_OUT(_upsample_nearest_exact3d_backward,
       (const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
        std::optional<double> scales_d = std::nullopt, std::optional<double> scales_h = std::nullopt,
        std::optional<double> scales_w = std::nullopt),
       (grad_output, output_size, input_size, scales_d, scales_h, scales_w))
HB_OUT(upsample_linear1d_backward,
       (const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners,
        std::optional<double> scales = std::nullopt),
       (grad_output, output_size, input_size, align_corners, scales))
HB_OUT(upsample_bilinear2d_backward,
       (const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners,
        std::optional<double> scales_h = std::nullopt, std::optional<double> scales_w = std::nullopt),
       (grad_output, output_size, input_size, align_corners, scales_h, scales_w))
HB_OUT(upsample_bicubic2d_backward,
       (const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners,
        std::optional<double> scales_h = std::nullopt, std::optional<double> scales_w = std::nullopt),
       (grad_output, output_size, input_size, align_corners, scales_h, scales_w))
HB_OUT(upsample_trilinear3d_backward,
       (const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners,
        std::optional<double> scales_d = std::nullopt, std::optional<double> scales_h = std::nullopt,
        std::optional<double> scales_w = std::nullopt),
       (grad_output, output_size, input_size, align_corners, scales_d, scales_h, scales_w))
HB_OUT(_upsample_bilinear2d_aa_backward,
       (const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners,
        std::optional<double> scales_h = std::nullopt, std::optional<double> scales_w = std::nullopt),
       (grad_output, output_size, input_size, align_corners, scales_h, scales_w))
HB_OUT(_upsample_bicubic2d_aa_backward,
       (const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, bool align_corners,
        std::optional<double> scales_h = std::nullopt, std::optional<double> scales_w = std::nullopt),
       (grad_output, output_size, input_size, align_corners, scales_h, scales_w))
HB_OUT_2(grid_sampler_2d_backward,
         (const Tensor& grad_output, const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
          int64_t padding_mode, bool align_corners, std::array<bool, 2> mask),
         (grad_output, input, grid, interpolation_mode, padding_mode, align_corners, mask))
HB_OUT_2(grid_sampler_3d_backward,
         (const Tensor& grad_output, const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
          int64_t padding_mode, bool align_corners, std::array<bool, 2> mask),
         (grad_output, input, grid, interpolation_mode, padding_mode, align_corners, mask))
HB_OUT(tanh_backward, (const Tensor& grad, const Tensor& output), (grad, output))
HB_OUT(sigmoid_backward, (const Tensor& grad, const Tensor& output), (grad, output))
HB_OUT(threshold_backward, (const Tensor& grad, const Tensor& self, const Scalar& threshold), (grad, self, threshold))
HB_OUT(silu_backward, (const Tensor& grad, const Tensor& self), (grad, self))
HB_OUT(hardsigmoid_backward, (const Tensor& grad, const Tensor& self), (grad, self))
HB_OUT(hardswish_backward, (const Tensor& grad, const Tensor& self), (grad, self))
HB_OUT(gelu_backward, (const Tensor& grad, const Tensor& self, std::string_view approximate = "none"),
       (grad, self, approximate))
HB_OUT(leaky_relu_backward, (const Tensor& grad, const Tensor& self, const Scalar& negative_slope, bool self_is_result),
       (grad, self, negative_slope, self_is_result))
HB_OUT(reflection_pad1d_backward, (const Tensor& grad_output, const Tensor& self, IntArrayRef padding),
       (grad_output, self, padding))
HB_OUT(reflection_pad2d_backward, (const Tensor& grad_output, const Tensor& self, IntArrayRef padding),
       (grad_output, self, padding))
HB_OUT(reflection_pad3d_backward, (const Tensor& grad_output, const Tensor& self, IntArrayRef padding),
       (grad_output, self, padding))
HB_OUT(replication_pad1d_backward, (const Tensor& grad_output, const Tensor& self, IntArrayRef padding),
       (grad_output, self, padding))
HB_OUT(replication_pad2d_backward, (const Tensor& grad_output, const Tensor& self, IntArrayRef padding),
       (grad_output, self, padding))
HB_OUT(replication_pad3d_backward, (const Tensor& grad_output, const Tensor& self, IntArrayRef padding),
       (grad_output, self, padding))
/// adaptive_avg_pool3d's, which has no other form of this name.
HB_API Tensor& adaptive_avg_pool3d_backward_out(Tensor& out, const Tensor& grad_output, const Tensor& self)
    HB_BODY(return _adaptive_avg_pool3d_backward_out(out, grad_output, self);)

#undef HB_OUT_3
#undef HB_OUT_2
#undef HB_OUT
#undef HB_WRITE
#undef HB_UNPACK

}  // namespace hb
