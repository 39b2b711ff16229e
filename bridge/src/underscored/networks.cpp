// Layers, attention and packed sequences.
#include <halfbridge/bridge/underscored.h>

#include <cmath>
#include <limits>

#include <halfbridge/bridge/nn/embedding.h>
#include <halfbridge/bridge/nn/utils.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/call_forms.h>

#include "autograd/composed.h"
#include "backend/weight_norm.h"

namespace hb::bridge {
inline namespace api {

Tensor _convolution_mode(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                         IntArrayRef stride, std::string_view padding, IntArrayRef dilation, int64_t groups) {
  switch (weight.dim()) {
    case 3:
      return conv1d(input, weight, bias, stride, padding, dilation, groups);
    case 4:
      return conv2d(input, weight, bias, stride, padding, dilation, groups);
    case 5:
      return conv3d(input, weight, bias, stride, padding, dilation, groups);
    default:
      HB_CHECK(false, "[_convolution_mode] expected weight of 3 to 5 dimensions, got sizes ", weight.sizes());
  }
}
Tensor _conv_depthwise2d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                         const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                         IntArrayRef dilation) {
  HB_CHECK(weight.dim() == 4 && weight.sizes().slice(2) == kernel_size,
           "[_conv_depthwise2d] expected weight to end in kernel_size ", kernel_size, ", got sizes ", weight.sizes());
  return conv2d(self, weight, bias, stride, padding, dilation, self.size(-3));
}

std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit(const Tensor& input, const std::optional<Tensor>& weight,
                                                            const std::optional<Tensor>& bias, Tensor& running_mean,
                                                            Tensor& running_var, bool training, double momentum,
                                                            double eps) {
  return native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
}
std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit(const Tensor& input, const std::optional<Tensor>& weight,
                                                            const std::optional<Tensor>& bias, bool training,
                                                            double momentum, double eps) {
  return native_batch_norm(input, weight, bias, std::nullopt, std::nullopt, training, momentum, eps);
}
std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit_no_training(
    const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    const Tensor& running_mean, const Tensor& running_var, double momentum, double eps) {
  return native_batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps);
}

namespace {
Tensor no_reserve(const Tensor& input) { return empty({0}, input.options().dtype(kByte)); }
}  // namespace
std::tuple<Tensor, Tensor, Tensor, Tensor> _batch_norm_with_update(const Tensor& input,
                                                                   const std::optional<Tensor>& weight,
                                                                   const std::optional<Tensor>& bias,
                                                                   Tensor& running_mean, Tensor& running_var,
                                                                   double momentum, double eps) {
  const auto [out, mean, invstd] =
      native_batch_norm(input, weight, bias, running_mean, running_var, true, momentum, eps);
  return {out, mean, invstd, no_reserve(input)};
}
std::tuple<Tensor, Tensor, Tensor, Tensor> _batch_norm_no_update(
    const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, double momentum, double eps) {
  const auto [out, mean, invstd] =
      native_batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps);
  return {out, mean, invstd, no_reserve(input)};
}
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> _batch_norm_with_update_functional(
    const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    const Tensor& running_mean, const Tensor& running_var, double momentum, double eps) {
  Tensor mean_now = running_mean.clone(), var_now = running_var.clone();
  const auto [out, mean, invstd, reserve] =
      _batch_norm_with_update(input, weight, bias, mean_now, var_now, momentum, eps);
  return {out, mean, invstd, reserve, mean_now, var_now};
}
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> _native_batch_norm_legit_functional(
    const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    const Tensor& running_mean, const Tensor& running_var, bool training, double momentum, double eps) {
  Tensor mean_now = running_mean.clone(), var_now = running_var.clone();
  const auto [out, mean, invstd] =
      _native_batch_norm_legit(input, weight, bias, mean_now, var_now, training, momentum, eps);
  return {out, mean, invstd, mean_now, var_now};
}
std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> _batch_norm_with_update_out(
    Tensor& out, Tensor& save_mean, Tensor& save_invstd, Tensor& reserve, const Tensor& input,
    const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, Tensor& running_mean, Tensor& running_var,
    double momentum, double eps) {
  constexpr const char* name = "_batch_norm_with_update";
  ops::OutScope scope;
  const auto r = _batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps);
  return {ops::write_out(name, out, std::get<0>(r)), ops::write_out(name, save_mean, std::get<1>(r)),
          ops::write_out(name, save_invstd, std::get<2>(r)), ops::write_out(name, reserve, std::get<3>(r))};
}
std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> _batch_norm_with_update_outf(
    const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, Tensor& running_mean,
    Tensor& running_var, double momentum, double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd,
    Tensor& reserve) {
  return _batch_norm_with_update_out(out, save_mean, save_invstd, reserve, input, weight, bias, running_mean,
                                     running_var, momentum, eps);
}

std::tuple<Tensor, Tensor> _fused_rms_norm(const Tensor& input, IntArrayRef normalized_shape,
                                           const std::optional<Tensor>& weight, std::optional<double> eps) {
  const Tensor output = rms_norm(input, normalized_shape, weight, eps);
  std::vector<int64_t> dims;
  for (size_t i = 1; i <= normalized_shape.size(); ++i) dims.push_back(-static_cast<int64_t>(i));
  const ScalarType computed = input.scalar_type() == kDouble ? kDouble : kFloat;
  const double least = computed == kDouble ? std::numeric_limits<double>::epsilon()
                                           : static_cast<double>(std::numeric_limits<float>::epsilon());
  return {output, rsqrt(input.to(computed).pow(2).mean(dims, true) + eps.value_or(least))};
}
Tensor _safe_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  const Tensor empty_row = self.eq(-std::numeric_limits<double>::infinity()).all(dim, true);
  return softmax(self, dim, dtype).masked_fill(empty_row, 0);
}

namespace {
Tensor attention_scores(const Tensor& query, const Tensor& key, const std::optional<Tensor>& attn_mask, bool is_causal,
                        std::optional<double> scale) {
  HB_CHECK(!is_causal || !attn_mask,
           "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
           "is_causal=True");
  const double root = std::sqrt(scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1)))));
  const Tensor scores = matmul(query * root, key.mT() * root);
  constexpr double left_out = -std::numeric_limits<double>::infinity();
  if (is_causal)
    return scores.masked_fill(ones({query.size(-2), key.size(-2)}, query.options().dtype(kBool)).tril().logical_not(),
                              left_out);
  // Masks of bools are added as numbers, as in LibTorch, whose scaled_dot_product_attention has converted them before.
  return attn_mask ? scores + *attn_mask : scores;
}
}  // namespace

std::tuple<Tensor, Tensor> _scaled_dot_product_attention_math(const Tensor& query, const Tensor& key,
                                                              const Tensor& value,
                                                              const std::optional<Tensor>& attn_mask, double dropout_p,
                                                              bool is_causal, const std::optional<Tensor>& dropout_mask,
                                                              std::optional<double> scale, bool enable_gqa) {
  Tensor keys = key, values = value;
  if (enable_gqa) {
    keys = key.repeat_interleave(query.size(-3) / key.size(-3), -3);
    values = value.repeat_interleave(query.size(-3) / value.size(-3), -3);
  }
  Tensor weights = _safe_softmax(attention_scores(query, keys, attn_mask, is_causal, scale), -1);
  if (dropout_p > 0 && dropout_mask) {
    weights = weights.masked_fill(dropout_mask->logical_not(), 0);
    return {matmul(weights, values * (1 / (1 - dropout_p))), weights};
  }
  if (dropout_p > 0) weights = dropout(weights, dropout_p, true);
  return {matmul(weights, values), weights};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> _embedding_bag(const Tensor& weight, const Tensor& indices,
                                                          const Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
                                                          bool sparse, const std::optional<Tensor>& per_sample_weights,
                                                          bool include_last_offset, int64_t padding_idx) {
  return embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                       include_last_offset, padding_idx < 0 ? std::nullopt : std::optional<int64_t>(padding_idx));
}

std::tuple<Tensor, Tensor> _pack_padded_sequence(const Tensor& input, const Tensor& lengths, bool batch_first) {
  const auto packed = nn::utils::rnn::pack_padded_sequence(input, lengths, batch_first);
  return {packed.data(), packed.batch_sizes()};
}
std::tuple<Tensor, Tensor> _pad_packed_sequence(const Tensor& data, const Tensor& batch_sizes, bool batch_first,
                                                const Scalar& padding_value, int64_t total_length) {
  return nn::utils::rnn::pad_packed_sequence(nn::utils::rnn::PackedSequence(data, batch_sizes), batch_first,
                                             padding_value.toDouble(),
                                             total_length > 0 ? std::optional<int64_t>(total_length) : std::nullopt);
}

namespace {
Tensor scaled_to_norm(const Tensor& v, const Tensor& g, int64_t dim) { return v * (g / norm_except_dim(v, 2, dim)); }

/// Both gradients, row by row; nothing where the device has no kernel for that or the norms are not those of rows.
variable_list row_gradients(const Tensor& grad, const Tensor& v, const Tensor& g, const Tensor& norms) {
  const bool rows = v.dim() > 1 && norms.numel() == v.size(0) && norms.size(0) == v.size(0);
  const bool wide = v.scalar_type() == kFloat || v.scalar_type() == kDouble;
  if (!rows || !wide || !weight_norm_backward_kernel.available(v.device())) return {};
  const Tensor x = v.contiguous(), dv = empty_like(x), dg = empty(norms.sizes(), norms.options());
  weight_norm_backward_kernel(v.device())(dv, dg, grad.contiguous(), x, g.contiguous(), norms.contiguous());
  return {dv, dg};
}

/// The gradients of v and g, where none of second order will be asked for: the second part of v's is added to the first
/// where that lies.
variable_list weight_norm_gradients(Backward& b, const Tensor& v, const Tensor& g, const Tensor& norms) {
  const Tensor& grad = b.grad();
  if (variable_list both = b.needs(0) ? row_gradients(grad, v, g, norms) : variable_list(); !both.empty()) return both;
  const Tensor dg = (grad * v).sum_to_size(norms.sizes()) / norms, scale = g / norms;
  if (!b.needs(0)) return {Tensor(), dg};
  Tensor dv = v * masked_fill(neg(dg) * scale / norms, norms == 0, 0);
  return {dv.addcmul_(grad, scale), dg};
}
}  // namespace

Tensor _weight_norm(const Tensor& v, const Tensor& g, int64_t dim) {
  if (!needs_grad(v, g)) return scaled_to_norm(v, g, dim);
  Tensor norms, out;
  {
    NoGradGuard no_history;
    norms = norm_except_dim(v, 2, dim), out = v * (g / norms);
  }
  const ScalarType t = out.scalar_type();
  const bool plain = g.sizes() == norms.sizes() && v.scalar_type() == t && g.scalar_type() == t &&
                     norms.scalar_type() == t && !v.is_complex();
  if (!plain) return scaled_to_norm(v, g, dim);
  record("WeightNormInterfaceBackward0", out, {&v, &g},
         {SavedTensor::input(v), SavedTensor::input(g), SavedTensor::input(norms)},
         [dim](Backward& b, auto& s) -> variable_list {
           if (!GradMode::is_enabled()) return weight_norm_gradients(b, s[0], s[1], s[2]);
           return composed_gradients(b, {s[0], s[1]}, {b.grad()}, [&](const variable_list& x) -> variable_list {
             return {scaled_to_norm(x[0], x[1], dim)};
           });
         });
  return out;
}
std::tuple<Tensor, Tensor> _weight_norm_interface(const Tensor& v, const Tensor& g, int64_t dim) {
  const Tensor norms = norm_except_dim(v, 2, dim);
  return {v * (g / norms), norms};
}

}  // namespace api
}  // namespace hb::bridge
