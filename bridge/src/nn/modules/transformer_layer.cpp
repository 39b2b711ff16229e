#include <halfbridge/bridge/nn/transformer.h>

namespace hb::bridge::nn {
inline namespace modules {

namespace {
Tensor activate(const activation_t& activation, const Tensor& x) {
  if (std::holds_alternative<enumtype::kReLU>(activation)) return hb::relu(x);
  if (std::holds_alternative<enumtype::kGELU>(activation)) return hb::gelu(x);
  return std::get<std::function<Tensor(const Tensor&)>>(activation)(x);
}
template <class Options>
MultiheadAttention attention_of(const Options& o) {
  return MultiheadAttention(MultiheadAttentionOptions(o.d_model(), o.nhead()).dropout(o.dropout()));
}
template <class Options>
LayerNorm norm_of(const Options& o) {
  return LayerNorm(LayerNormOptions(std::vector<int64_t>{o.d_model()}));
}
}  // namespace

HB_ARG_SETTER(TransformerEncoderLayerOptions, activation_t, activation)
HB_ARG_SETTER(TransformerDecoderLayerOptions, activation_t, activation)
TransformerEncoderLayerOptions::TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead)
    : d_model_(d_model), nhead_(nhead) {}
TransformerDecoderLayerOptions::TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead)
    : d_model_(d_model), nhead_(nhead) {}

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead)
    : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead)) {}
TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead)
    : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(d_model, nhead)) {}
TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_)
    : options(std::move(options_)) {
  TransformerEncoderLayerImpl::reset();
}

void TransformerEncoderLayerImpl::reset() {
  self_attn = register_module("self_attn", attention_of(options));
  linear1 = register_module("linear1", Linear(options.d_model(), options.dim_feedforward()));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), options.d_model()));
  norm1 = register_module("norm1", norm_of(options));
  norm2 = register_module("norm2", norm_of(options));
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
}

void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask) {
  auto encode = [&](const Tensor& x) {
    Tensor attended = std::get<0>(self_attn(x, x, x, src_key_padding_mask, /*need_weights=*/false, src_mask));
    Tensor y = norm1(x + dropout1(attended));
    return norm2(y + dropout2(linear2(dropout(activate(options.activation(), linear1(y))))));
  };
  return hooked(encode, src);
}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_)
    : options(std::move(options_)) {
  TransformerDecoderLayerImpl::reset();
}

void TransformerDecoderLayerImpl::reset() {
  self_attn = register_module("self_attn", attention_of(options));
  multihead_attn = register_module("multihead_attn", attention_of(options));
  linear1 = register_module("linear1", Linear(options.d_model(), options.dim_feedforward()));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), options.d_model()));
  norm1 = register_module("norm1", norm_of(options));
  norm2 = register_module("norm2", norm_of(options));
  norm3 = register_module("norm3", norm_of(options));
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
  dropout3 = register_module("dropout3", Dropout(options.dropout()));
}

void TransformerDecoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  norm1->reset_parameters();
  multihead_attn->_reset_parameters();
  norm2->reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm3->reset_parameters();
}

Tensor TransformerDecoderLayerImpl::activation(const Tensor& input) { return activate(options.activation(), input); }

Tensor TransformerDecoderLayerImpl::forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask,
                                            const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
                                            const Tensor& memory_key_padding_mask) {
  auto decode = [&](const Tensor& x, const Tensor& m) {
    Tensor own = std::get<0>(self_attn(x, x, x, tgt_key_padding_mask, /*need_weights=*/false, tgt_mask));
    Tensor y = norm1(x + dropout1(own));
    Tensor other = std::get<0>(multihead_attn(y, m, m, memory_key_padding_mask, /*need_weights=*/false, memory_mask));
    Tensor z = norm2(y + dropout2(other));
    return norm3(z + dropout3(linear2(dropout(activation(linear1(z))))));
  };
  return hooked(decode, tgt, memory);
}

}  // namespace modules
}  // namespace hb::bridge::nn
