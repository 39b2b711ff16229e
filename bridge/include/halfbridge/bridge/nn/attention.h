#pragma once

#include <tuple>

#include <halfbridge/bridge/nn/linear.h>

namespace hb::bridge::nn {
inline namespace modules {

struct HB_API MultiheadAttentionOptions {
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads), kdim_(embed_dim), vdim_(embed_dim) {}
  HB_ARG(int64_t, embed_dim);
  HB_ARG(int64_t, num_heads);
  HB_ARG(double, dropout) = 0.0;
  HB_ARG(bool, bias) = true;
  HB_ARG(bool, add_bias_kv) = false;
  HB_ARG(bool, add_zero_attn) = false;
  HB_ARG(int64_t, kdim);
  HB_ARG(int64_t, vdim);
};

/// query (L, N, E), key and value (S, N, E): (output (L, N, E), weights (N, L, S) or undefined).
class HB_API MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options_);
  /// key_padding_mask (N, S), true where a key is to be ignored; attn_mask (L, S) or (N * heads, L, S), added.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {}, bool average_attn_weights = true);
  void reset() override;
  void _reset_parameters();

  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim{};
  Tensor in_proj_weight, in_proj_bias;
  Tensor bias_k, bias_v;
  Linear out_proj = nullptr;
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;
  int64_t head_dim{};

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
};
HB_LIBRARY_MODULE(MultiheadAttention);

}  // namespace modules

namespace functional {

struct HB_API MultiheadAttentionForwardFuncOptions {
  MultiheadAttentionForwardFuncOptions(int64_t embed_dim_to_check, int64_t num_heads, Tensor in_proj_weight,
                                       Tensor in_proj_bias, Tensor bias_k, Tensor bias_v, bool add_zero_attn,
                                       double dropout_p, Tensor out_proj_weight, Tensor out_proj_bias)
      : embed_dim_to_check_(embed_dim_to_check),
        num_heads_(num_heads),
        in_proj_weight_(std::move(in_proj_weight)),
        in_proj_bias_(std::move(in_proj_bias)),
        bias_k_(std::move(bias_k)),
        bias_v_(std::move(bias_v)),
        add_zero_attn_(add_zero_attn),
        dropout_p_(dropout_p),
        out_proj_weight_(std::move(out_proj_weight)),
        out_proj_bias_(std::move(out_proj_bias)) {}
  HB_ARG(int64_t, embed_dim_to_check);
  HB_ARG(int64_t, num_heads);
  HB_ARG(Tensor, in_proj_weight);
  HB_ARG(Tensor, in_proj_bias);
  HB_ARG(Tensor, bias_k);
  HB_ARG(Tensor, bias_v);
  HB_ARG(bool, add_zero_attn);
  HB_ARG(double, dropout_p);
  HB_ARG(Tensor, out_proj_weight);
  HB_ARG(Tensor, out_proj_bias);
  HB_ARG(bool, training) = true;
  HB_ARG(Tensor, key_padding_mask);
  HB_ARG(bool, need_weights) = true;
  HB_ARG(Tensor, attn_mask);
  HB_ARG(bool, use_separate_proj_weight) = false;
  HB_ARG(Tensor, q_proj_weight);
  HB_ARG(Tensor, k_proj_weight);
  HB_ARG(Tensor, v_proj_weight);
  HB_ARG(Tensor, static_k);
  HB_ARG(Tensor, static_v);
  HB_ARG(bool, average_attn_weights) = true;
};
HB_API std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key,
                                                               const Tensor& value,
                                                               const MultiheadAttentionForwardFuncOptions& options);

}  // namespace functional
}  // namespace hb::bridge::nn
