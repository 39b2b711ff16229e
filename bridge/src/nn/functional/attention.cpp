#include <halfbridge/bridge/nn/attention.h>

#include <cmath>
#include <limits>

#include <halfbridge/ops.h>

namespace hb::bridge::nn::functional {

namespace {

using Options = MultiheadAttentionForwardFuncOptions;

Tensor part(const Tensor& bias, int64_t index, int64_t size) {
  return bias.defined() ? bias.narrow(0, index * size, size) : bias;
}

// Query, key and value through their projections, (length, N, E).
std::array<Tensor, 3> projected(const Tensor& query, const Tensor& key, const Tensor& value, const Options& o) {
  const int64_t e = query.size(2);
  if (o.use_separate_proj_weight())
    return {hb::linear(query, o.q_proj_weight(), part(o.in_proj_bias(), 0, e)),
            hb::linear(key, o.k_proj_weight(), part(o.in_proj_bias(), 1, e)),
            hb::linear(value, o.v_proj_weight(), part(o.in_proj_bias(), 2, e))};
  const Tensor& w = o.in_proj_weight();
  if (query.is_same(key) && key.is_same(value)) {
    auto all = hb::linear(query, w, o.in_proj_bias()).chunk(3, -1);
    return {all[0], all[1], all[2]};
  }
  return {hb::linear(query, w.narrow(0, 0, e), part(o.in_proj_bias(), 0, e)),
          hb::linear(key, w.narrow(0, e, e), part(o.in_proj_bias(), 1, e)),
          hb::linear(value, w.narrow(0, 2 * e, e), part(o.in_proj_bias(), 2, e))};
}

// A mask with a last column more, for a key that may always be seen.
Tensor widened(const Tensor& mask) {
  if (!mask.defined()) return mask;
  auto sizes = mask.sizes().vec();
  sizes.back() = 1;
  return hb::cat({mask, hb::zeros(sizes, mask.options())}, -1);
}

Tensor with_zero_row(const Tensor& t) { return hb::cat({t, hb::zeros({t.size(0), 1, t.size(2)}, t.options())}, 1); }

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                        const Options& o) {
  HB_CHECK(query.dim() == 3 && key.dim() == 3 && value.dim() == 3,
           "[multi_head_attention] expected query, key and value of 3 dimensions, got ", query.sizes(), ", ",
           key.sizes(), " and ", value.sizes());
  const int64_t length = query.size(0), batch = query.size(1), embed = query.size(2), heads = o.num_heads();
  HB_CHECK(heads > 0, "[multi_head_attention_forward] expected at least one head, got ", heads);
  HB_CHECK(embed == o.embed_dim_to_check(), "[multi_head_attention] expected a query of width ", o.embed_dim_to_check(),
           ", got ", embed);
  HB_CHECK(key.size(0) == value.size(0) && key.size(1) == value.size(1),
           "[multi_head_attention] expected key and value of one length and batch, got ", key.sizes(), " and ",
           value.sizes());
  const int64_t head = embed / heads;
  HB_CHECK(head * heads == embed, "embed_dim must be divisible by num_heads");

  auto [q, k, v] = projected(query, key, value, o);
  q = q * (1 / std::sqrt(static_cast<double>(head)));
  Tensor mask = o.attn_mask(), padding = o.key_padding_mask();
  if (o.bias_k().defined() && o.bias_v().defined()) {
    HB_CHECK(!o.static_k().defined() && !o.static_v().defined(), "bias cannot be added to static key or value.");
    k = hb::cat({k, o.bias_k().repeat({1, batch, 1})});
    v = hb::cat({v, o.bias_v().repeat({1, batch, 1})});
    mask = widened(mask);
    padding = widened(padding);
  }
  auto split_heads = [&](const Tensor& t) { return t.contiguous().view({-1, batch * heads, head}).transpose(0, 1); };
  q = split_heads(q);
  k = o.static_k().defined() ? o.static_k() : split_heads(k);
  v = o.static_v().defined() ? o.static_v() : split_heads(v);
  if (o.add_zero_attn()) {
    k = with_zero_row(k);
    v = with_zero_row(v);
    mask = widened(mask);
    padding = widened(padding);
  }
  const int64_t keys = k.size(1);

  Tensor weights = hb::bmm(q, k.transpose(1, 2));  // (N * heads, L, S)
  if (mask.defined()) weights = weights + (mask.dim() == 2 ? mask.unsqueeze(0) : mask).to(weights.scalar_type());
  if (padding.defined()) {
    HB_CHECK(padding.size(0) == batch && padding.size(1) == keys,
             "[multi_head_attention] expected a key_padding_mask of shape [", batch, ", ", keys, "], got ",
             padding.sizes());
    HB_CHECK(padding.scalar_type() == kBool,
             "[multi_head_attention] masked_fill_ only supports boolean masks, but got a "
             "key_padding_mask with dtype ",
             toString(padding.scalar_type()));
    weights = weights.view({batch, heads, length, keys})
                  .masked_fill(padding.unsqueeze(1).unsqueeze(2), -std::numeric_limits<double>::infinity())
                  .view({batch * heads, length, keys});
  }
  weights = hb::dropout(weights.softmax(-1), o.dropout_p(), o.training());
  Tensor output = hb::bmm(weights, v).transpose(0, 1).contiguous().view({length, batch, embed});
  output = hb::linear(output, o.out_proj_weight(), o.out_proj_bias());
  if (!o.need_weights()) return {output, Tensor()};
  weights = weights.view({batch, heads, length, keys});
  if (o.average_attn_weights()) weights = weights.sum(1) / heads;
  return {output, weights};
}

}  // namespace hb::bridge::nn::functional
