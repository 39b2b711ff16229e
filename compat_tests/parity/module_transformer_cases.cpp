#include "parity/modules.h"

namespace nn = torch::nn;

PARITY_CASE(module_transformer, attention) {
  auto q = c.leaf({4, 2, 8}), k = c.leaf({5, 2, 8}), v = c.leaf({5, 2, 8});
  auto run = [&](const char* label, nn::MultiheadAttention m, torch::Tensor a, torch::Tensor b, torch::Tensor d,
                 torch::Tensor padding = {}, torch::Tensor mask = {}) {
    c.scope(label, [&] {
      c.text("text", parity::text_of(m));
      parity::record_weights(c, "init", m);
      auto [y, w] = m(a, b, d, padding, true, mask);
      c.out("y", y);
      c.out("weights", w);
      auto inputs = m->parameters();
      inputs.push_back(a);
      if (!b.is_same(a)) inputs.push_back(b);
      c.backward("y", y, inputs);
    });
  };
  run("self", nn::MultiheadAttention(8, 2), q, q, q);
  run("cross", nn::MultiheadAttention(nn::MultiheadAttentionOptions(8, 4).bias(false)), q, k, v);
  run("other_widths", nn::MultiheadAttention(nn::MultiheadAttentionOptions(8, 2).kdim(6).vdim(6)), q, c.leaf({5, 2, 6}),
      c.leaf({5, 2, 6}));
  run("extra_keys", nn::MultiheadAttention(nn::MultiheadAttentionOptions(8, 2).add_bias_kv(true).add_zero_attn(true)),
      q, k, v);
  auto padding = torch::tensor({{false, false, true, false, true}, {false, false, false, false, false}});
  run("padding", nn::MultiheadAttention(8, 2), q, k, v, padding);
  run("mask", nn::MultiheadAttention(8, 2), q, q, q, {}, nn::TransformerImpl::generate_square_subsequent_mask(4));
  c.throws("heads", [&] { nn::MultiheadAttention(8, 3); });
}

PARITY_CASE(module_transformer, layers) {
  auto options = nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0.0);
  auto x = c.leaf({4, 2, 8}), memory = c.leaf({5, 2, 8});
  parity::module(c, "encoder_layer", nn::TransformerEncoderLayer(options), x);
  parity::module(c, "encoder_layer_gelu",
                 nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(options).activation(torch::kGELU)), x);
  auto decoder = nn::TransformerDecoderLayerOptions(8, 2).dim_feedforward(16).dropout(0.0);
  parity::module(c, "decoder_layer", nn::TransformerDecoderLayer(decoder), x, memory);
  parity::module(c, "encoder",
                 nn::TransformerEncoder(nn::TransformerEncoderOptions(nn::TransformerEncoderLayer(options), 2)), x);
  parity::module(c, "decoder",
                 nn::TransformerDecoder(nn::TransformerDecoderOptions(nn::TransformerDecoderLayer(decoder), 2)
                                            .norm(nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({8}))))),
                 x, memory);
}

PARITY_CASE(module_transformer, whole) {
  nn::Transformer net(nn::TransformerOptions(8, 2, 2, 1).dim_feedforward(16).dropout(0.0));
  parity::module(c, "net", net, c.leaf({5, 2, 8}), c.leaf({4, 2, 8}));
  c.out("mask", nn::TransformerImpl::generate_square_subsequent_mask(3));
}
