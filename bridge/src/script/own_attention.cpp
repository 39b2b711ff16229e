// The functions by which scripted attention and encoder layers compute where no gradients are needed.
#include <cmath>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

#include "script/operators_own.h"

namespace hb::bridge::script {
namespace {

/// What may not be looked at, as (batch, heads, queries, keys) or what broadcasts to it. `type` 0: of (queries, keys),
/// 1: of (batch, keys), 2: of all four.
Tensor masked_places(const std::optional<Tensor>& mask, std::optional<int64_t> type) {
  if (!mask || !mask->defined()) return {};
  HB_CHECK(type && *type >= 0 && *type <= 2,
           "[_native_multi_head_attention] Mask Type should be 0 (src_mask), 1 "
           "(src_key_padding_mask), or 2 (default_mask)");
  const Tensor places = mask->to(kBool);
  if (*type == 1) return places.view({places.size(0), 1, 1, places.size(1)});
  return places;
}

/// x (batch, length, heads * width) as (batch, heads, length, width).
Tensor by_heads(const Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

// Self attention, or of other keys and values, whose projections stand below each other in qkv_weight (3 E, E).
TensorTuple2 attention(const Tensor& query, const Tensor& key, const Tensor& value, int64_t embed_dim, int64_t heads,
                       const Tensor& qkv_weight, const Tensor& qkv_bias, const Tensor& proj_weight,
                       const Tensor& proj_bias, const std::optional<Tensor>& mask, bool need_weights, bool average,
                       std::optional<int64_t> mask_type) {
  HB_CHECK(query.dim() == 3 && query.size(2) == embed_dim,
           "[_native_multi_head_attention] expected 3-D `query` of embed_dim ", embed_dim, ", got ", query.sizes());
  HB_CHECK(heads > 0 && embed_dim % heads == 0,
           "[_native_multi_head_attention] `embed_dim` must divide evenly by `num_heads`");
  const auto projected = [&](const Tensor& x, int64_t part) {
    return by_heads(hb::linear(x, qkv_weight.narrow(0, part * embed_dim, embed_dim),
                               qkv_bias.narrow(0, part * embed_dim, embed_dim)),
                    heads);
  };
  const Tensor q = projected(query, 0), k = projected(key, 1), v = projected(value, 2);
  const Tensor masked = masked_places(mask, mask_type);
  Tensor mixed, weights;
  if (need_weights) {
    Tensor scores = hb::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(embed_dim / heads));
    if (masked.defined()) scores = scores.masked_fill(masked, -HUGE_VAL);
    weights = hb::softmax(scores, -1);
    mixed = hb::matmul(weights, v);
    if (average) weights = weights.mean(1);
  } else {
    const auto allowed = masked.defined() ? std::optional<Tensor>(masked.logical_not()) : std::nullopt;
    mixed = hb::scaled_dot_product_attention(q, k, v, allowed);
  }
  return {hb::linear(mixed.transpose(1, 2).flatten(2), proj_weight, proj_bias), weights};
}

// nn.TransformerEncoderLayer of x (batch, length, E).
Tensor encoder_layer(const Tensor& x, int64_t embed_dim, int64_t heads, const Tensor& qkv_weight,
                     const Tensor& qkv_bias, const Tensor& proj_weight, const Tensor& proj_bias, bool use_gelu,
                     bool norm_first, double eps, const Tensor& norm_weight_1, const Tensor& norm_bias_1,
                     const Tensor& norm_weight_2, const Tensor& norm_bias_2, const Tensor& ffn_weight_1,
                     const Tensor& ffn_bias_1, const Tensor& ffn_weight_2, const Tensor& ffn_bias_2,
                     const std::optional<Tensor>& mask, std::optional<int64_t> mask_type) {
  const auto norm = [&](const Tensor& t, const Tensor& weight, const Tensor& bias) {
    return hb::layer_norm(t, {embed_dim}, weight, bias, eps);
  };
  const auto attended = [&](const Tensor& t) {
    return std::get<0>(attention(t, t, t, embed_dim, heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, false,
                                 true, mask_type));
  };
  const auto fed_forward = [&](const Tensor& t) {
    const Tensor inner = hb::linear(t, ffn_weight_1, ffn_bias_1);
    return hb::linear(use_gelu ? hb::gelu(inner) : hb::relu(inner), ffn_weight_2, ffn_bias_2);
  };
  if (norm_first) {
    const Tensor mixed = x + attended(norm(x, norm_weight_1, norm_bias_1));
    return mixed + fed_forward(norm(mixed, norm_weight_2, norm_bias_2));
  }
  const Tensor mixed = norm(x + attended(x), norm_weight_1, norm_bias_1);
  return norm(mixed + fed_forward(mixed), norm_weight_2, norm_bias_2);
}

constexpr OwnRow kRows[] = {
    {"aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head, "
     "Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask=None, "
     "bool need_weights=True, bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
     on_stack<&attention>},
    {"aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, "
     "Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, "
     "Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, "
     "Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
     on_stack<&encoder_layer>},
};

}  // namespace

std::span<const OwnRow> own_attention() { return kRows; }

}  // namespace hb::bridge::script
