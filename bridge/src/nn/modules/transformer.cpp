#include <halfbridge/bridge/nn/transformer.h>

#include <limits>

#include <halfbridge/bridge/nn/init.h>

namespace hb::bridge::nn {
inline namespace modules {

TransformerEncoderOptions::TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers)
    : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
TransformerEncoderOptions::TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options,
                                                     int64_t num_layers)
    : TransformerEncoderOptions(TransformerEncoderLayer(encoder_layer_options), num_layers) {}

TransformerDecoderOptions::TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers)
    : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
TransformerDecoderOptions::TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options,
                                                     int64_t num_layers)
    : TransformerDecoderOptions(TransformerDecoderLayer(decoder_layer_options), num_layers) {}

HB_ARG_SETTER(TransformerOptions, activation_t, activation)
TransformerOptions::TransformerOptions() = default;
TransformerOptions::TransformerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
TransformerOptions::TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
                                       int64_t num_decoder_layers)
    : d_model_(d_model),
      nhead_(nhead),
      num_encoder_layers_(num_encoder_layers),
      num_decoder_layers_(num_decoder_layers) {}

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers)
    : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers)
    : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions options_) : options(std::move(options_)) {
  TransformerEncoderImpl::reset();
}

void TransformerEncoderImpl::reset() {
  layers = register_module("layers", ModuleList());
  for (int64_t i = 0; i < options.num_layers(); ++i) layers->push_back(options.encoder_layer()->clone());
  if (options.norm().is_empty()) return;
  norm = options.norm().clone();
  register_module("norm", norm.ptr());
}

void TransformerEncoderImpl::reset_parameters() {
  for (size_t i = 0; i < layers->size(); ++i) layers->at<TransformerEncoderLayerImpl>(i).reset_parameters();
}

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask) {
  auto encode = [&](const Tensor& x) {
    HB_CHECK(layers->size() > 0, "TransformerEncoder should have at least 1 encoder layer");
    Tensor y = x;
    for (size_t i = 0; i < layers->size(); ++i)
      y = layers->at<TransformerEncoderLayerImpl>(i).forward(y, src_mask, src_key_padding_mask);
    return norm.is_empty() ? y : norm.forward<Tensor>(y);
  };
  return hooked(encode, src);
}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions options_) : options(std::move(options_)) {
  TransformerDecoderImpl::reset();
}

void TransformerDecoderImpl::reset() {
  layers = register_module("layers", ModuleList());
  for (int64_t i = 0; i < options.num_layers(); ++i) layers->push_back(options.decoder_layer()->clone());
  if (options.norm().is_empty()) return;
  norm = options.norm().clone();
  register_module("norm", norm.ptr());
}

void TransformerDecoderImpl::reset_parameters() {
  for (size_t i = 0; i < layers->size(); ++i) layers->at<TransformerDecoderLayerImpl>(i).reset_parameters();
}

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask,
                                       const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask) {
  auto decode = [&](const Tensor& x, const Tensor& m) {
    HB_CHECK(layers->size() > 0, "TransformerDecoder should have at least 1 decoder layer");
    Tensor y = x;
    for (size_t i = 0; i < layers->size(); ++i)
      y = layers->at<TransformerDecoderLayerImpl>(i).forward(y, m, tgt_mask, memory_mask, tgt_key_padding_mask,
                                                             memory_key_padding_mask);
    return norm.is_empty() ? y : norm.forward<Tensor>(y);
  };
  return hooked(decode, tgt, memory);
}

TransformerImpl::TransformerImpl(TransformerOptions options_) : options(std::move(options_)) {
  HB_CHECK(options.d_model() > 0 && options.nhead() > 0 && options.d_model() % options.nhead() == 0, "d_model (",
           options.d_model(), ") must be a positive multiple of nhead (", options.nhead(), ")");
  TransformerImpl::reset();
}

namespace {
// A layer's options with those of the whole.
template <class LayerOptions>
LayerOptions layer_options(const TransformerOptions& o) {
  LayerOptions layer(o.d_model(), o.nhead());
  layer.dim_feedforward(o.dim_feedforward()).dropout(o.dropout()).activation(o.activation());
  return layer;
}
AnyModule norm_of(const TransformerOptions& o) {
  return AnyModule(LayerNorm(LayerNormOptions(std::vector<int64_t>{o.d_model()})));
}
}  // namespace

void TransformerImpl::reset() {
  if (options.custom_encoder().is_empty()) {
    AnyModule norm = norm_of(options);
    encoder = AnyModule(TransformerEncoder(
        TransformerEncoderOptions(layer_options<TransformerEncoderLayerOptions>(options), options.num_encoder_layers())
            .norm(norm)));
  } else {
    encoder = options.custom_encoder().clone();
  }
  register_module("encoder", encoder.ptr());
  if (options.custom_decoder().is_empty()) {
    AnyModule norm = norm_of(options);
    decoder = AnyModule(TransformerDecoder(
        TransformerDecoderOptions(layer_options<TransformerDecoderLayerOptions>(options), options.num_decoder_layers())
            .norm(norm)));
  } else {
    decoder = options.custom_decoder().clone();
  }
  register_module("decoder", decoder.ptr());
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  for (auto& p : parameters())
    if (p.dim() > 1) init::xavier_uniform_(p);
}

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask, const Tensor& tgt_mask,
                                const Tensor& memory_mask, const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask, const Tensor& memory_key_padding_mask) {
  HB_CHECK(src.dim() == 3 && tgt.dim() == 3, "src and tgt should have 3 dimensions, but got ", src.dim(), " and ",
           tgt.dim());
  HB_CHECK(src.size(1) == tgt.size(1), "src and tgt should have equal batch size (at dim 1), but got ", src.size(1),
           " and ", tgt.size(1));
  HB_CHECK(src.size(2) == options.d_model() && tgt.size(2) == options.d_model(),
           "src and tgt should have same feature size as d_model (at dim 2), but got ", src.size(2), " and ",
           tgt.size(2), " while d_model is ", options.d_model());
  auto run = [&](const Tensor& s, const Tensor& t) {
    Tensor memory = encoder.forward<Tensor>(s, src_mask, src_key_padding_mask);
    return decoder.forward<Tensor>(t, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
  };
  return hooked(run, src, tgt);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t sz) {
  HB_CHECK(sz >= 0, "Input size must be non-negative to generate a valid square subsequent mask, but got ", sz);
  return hb::triu(hb::full({sz, sz}, -std::numeric_limits<float>::infinity()), 1);
}

}  // namespace modules
}  // namespace hb::bridge::nn
