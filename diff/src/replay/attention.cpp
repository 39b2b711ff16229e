#include <halfbridge/ops.h>
#include <halfbridge/ops/nn.h>

#include <halfbridge/bridge/nn/attention.h>

#include "declarations.h"

namespace hb::layer_diff::replay {

namespace F = hb::bridge::nn::functional;

namespace {

Tensor parameter(const Run& run, const char* name) {
  const auto found = run.state.find(name);
  return found == run.state.end() ? Tensor() : found->second;
}

// A boolean mask or a floating one of a matrix is attn_mask; a boolean one of (N, S) is key_padding_mask, which stands
// before it. Their positions among the tensors do not say which were given.
struct Masks {
  Tensor key_padding, attention;
};
Masks masks_of(const Run& run, const Tensor& query, const Tensor& key) {
  Masks masks;
  for (size_t i = 3; i < run.inputs.size(); ++i) {
    const Tensor& m = run.inputs[i];
    if (!m.defined()) continue;
    const bool of_keys = i == 3 && m.dim() == 2 && m.size(0) == query.size(1) && m.size(1) == key.size(0) &&
                         (m.size(0) != query.size(0) || m.scalar_type() == kBool);
    (of_keys ? masks.key_padding : masks.attention) = m;
  }
  return masks;
}

Tensors multihead_attention(Run& run) {
  const Arguments& o = run.args;
  HB_CHECK(!run.training() || o.number("dropout") == 0 || !run.masks.empty(),
           "[replay] the mask of this attention's dropout is not in the trace");
  HB_CHECK(!run.training() || o.number("dropout") == 0, "[replay] attention with dropout cannot be run again");
  const bool batch_first = o.flag("batch_first");
  const auto turned = [&](const Tensor& t) { return batch_first ? t.transpose(0, 1) : t; };
  const Tensor query = turned(run.input(0));
  const Tensor key = run.inputs.size() > 1 ? turned(run.input(1)) : query;
  const Tensor value = run.inputs.size() > 2 ? turned(run.input(2)) : key;
  const Tensor in_weight = parameter(run, "in_proj_weight"), out_weight = parameter(run, "out_proj.weight");
  HB_CHECK(out_weight.defined(), "[replay] out_proj.weight of this attention is not in the trace");
  F::MultiheadAttentionForwardFuncOptions options(
      query.size(-1), o.integer("num_heads"), in_weight, parameter(run, "in_proj_bias"), parameter(run, "bias_k"),
      parameter(run, "bias_v"), o.flag("add_zero_attn"), 0.0, out_weight, parameter(run, "out_proj.bias"));
  const Masks masks = masks_of(run, query, key);
  options.training(false).key_padding_mask(masks.key_padding).attn_mask(masks.attention);
  if (!in_weight.defined())
    options.use_separate_proj_weight(true)
        .q_proj_weight(parameter(run, "q_proj_weight"))
        .k_proj_weight(parameter(run, "k_proj_weight"))
        .v_proj_weight(parameter(run, "v_proj_weight"));
  auto [output, attention] = F::multi_head_attention_forward(query, key, value, options);
  return {turned(output), attention};
}

Tensors scaled_dot_product(Run& run) {
  const Arguments& o = run.args;
  HB_CHECK(o.number("dropout_p") == 0, "[replay] attention with dropout cannot be run again");
  const Tensor mask = run.input_or_none(3);
  return {hb::scaled_dot_product_attention(run.input(0), run.input(1), run.input(2),
                                           mask.defined() ? std::optional<Tensor>(mask) : std::nullopt, 0.0,
                                           o.flag("is_causal"), o.optional_number("scale"))};
}

}  // namespace

const Lines& attention_lines() {
  static const Lines lines = {
      {"multihead_attention", multihead_attention},
      {"scaled_dot_product_attention", scaled_dot_product},
  };
  return lines;
}

}  // namespace hb::layer_diff::replay
