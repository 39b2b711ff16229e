#include <halfbridge/bridge/nn/attention.h>

#include <halfbridge/bridge/nn/init.h>

namespace hb::bridge::nn {
inline namespace modules {

namespace F = functional;

// The name is the one under which LibTorch prints it.
MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& options_)
    : Cloneable("torch::nn::MultiheadAttention"), options(options_) {
  MultiheadAttentionImpl::reset();
}

void MultiheadAttentionImpl::reset() {
  const int64_t e = options.embed_dim();
  _qkv_same_embed_dim = options.kdim() == e && options.vdim() == e;
  HB_CHECK(options.num_heads() > 0, "[MultiheadAttention] expected at least one head, got ", options.num_heads());
  head_dim = e / options.num_heads();
  HB_CHECK(head_dim * options.num_heads() == e, "embed_dim must be divisible by num_heads");
  const bool separate = !_qkv_same_embed_dim;
  if (_qkv_same_embed_dim) in_proj_weight = register_parameter("in_proj_weight", hb::empty({3 * e, e}));
  q_proj_weight = register_parameter("q_proj_weight", separate ? hb::empty({e, e}) : Tensor(), separate);
  k_proj_weight = register_parameter("k_proj_weight", separate ? hb::empty({e, options.kdim()}) : Tensor(), separate);
  v_proj_weight = register_parameter("v_proj_weight", separate ? hb::empty({e, options.vdim()}) : Tensor(), separate);
  if (separate) in_proj_weight = register_parameter("in_proj_weight", Tensor(), false);
  const bool bias = options.bias();
  in_proj_bias = register_parameter("in_proj_bias", bias ? hb::empty({3 * e}) : Tensor(), bias);
  out_proj = register_module("out_proj", Linear(LinearOptions(e, e).bias(bias)));
  if (options.add_bias_kv()) {
    bias_k = register_parameter("bias_k", hb::empty({1, 1, e}));
    bias_v = register_parameter("bias_v", hb::empty({1, 1, e}));
  } else {
    bias_k.reset();
    bias_v.reset();
  }
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  if (_qkv_same_embed_dim) {
    init::xavier_uniform_(in_proj_weight);
  } else {
    init::xavier_uniform_(q_proj_weight);
    init::xavier_uniform_(k_proj_weight);
    init::xavier_uniform_(v_proj_weight);
  }
  if (in_proj_bias.defined()) {
    init::constant_(in_proj_bias, 0.);
    init::constant_(out_proj->bias, 0.);
  }
  if (bias_k.defined()) init::xavier_normal_(bias_k);
  if (bias_v.defined()) init::xavier_normal_(bias_v);
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                           const Tensor& key_padding_mask, bool need_weights,
                                                           const Tensor& attn_mask, bool average_attn_weights) {
  auto attend = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    F::MultiheadAttentionForwardFuncOptions o(options.embed_dim(), options.num_heads(), in_proj_weight, in_proj_bias,
                                              bias_k, bias_v, options.add_zero_attn(), options.dropout(),
                                              out_proj->weight, out_proj->bias);
    o.training(is_training()).key_padding_mask(key_padding_mask).need_weights(need_weights).attn_mask(attn_mask);
    o.average_attn_weights(average_attn_weights);
    if (!_qkv_same_embed_dim) {
      o.use_separate_proj_weight(true).q_proj_weight(q_proj_weight).k_proj_weight(k_proj_weight);
      o.v_proj_weight(v_proj_weight);
    }
    return F::multi_head_attention_forward(q, k, v, o);
  };
  return hooked(attend, query, key, value);
}

}  // namespace modules
}  // namespace hb::bridge::nn
