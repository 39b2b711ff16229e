#pragma once
// Transformer (Vaswani et al., 2017). Sequences are (length, N, E); masks as those of MultiheadAttention.

#include <functional>
#include <variant>

#include <halfbridge/bridge/enum.h>
#include <halfbridge/bridge/nn/attention.h>
#include <halfbridge/bridge/nn/containers/any.h>
#include <halfbridge/bridge/nn/containers/lists.h>
#include <halfbridge/bridge/nn/dropout.h>
#include <halfbridge/bridge/nn/normalization.h>

namespace hb::bridge::nn {
inline namespace modules {

using activation_t = std::variant<enumtype::kReLU, enumtype::kGELU, std::function<Tensor(const Tensor&)>>;

struct HB_API TransformerEncoderLayerOptions {
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead);
  HB_ARG(int64_t, d_model);
  HB_ARG(int64_t, nhead);
  HB_ARG(int64_t, dim_feedforward) = 2048;
  HB_ARG(double, dropout) = 0.1;
  HB_ARG_COMPILED(activation_t, activation) = kReLU;
};
struct HB_API TransformerDecoderLayerOptions {
  TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead);
  HB_ARG(int64_t, d_model);
  HB_ARG(int64_t, nhead);
  HB_ARG(int64_t, dim_feedforward) = 2048;
  HB_ARG(double, dropout) = 0.1;
  HB_ARG_COMPILED(activation_t, activation) = kReLU;
};

/// Self-attention and a feed-forward network, each with a residual connection and layer normalisation after it.
class HB_API TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead);
  explicit TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_);
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {});
  void reset() override;
  void reset_parameters();

  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr, norm2 = nullptr;
  Dropout dropout1 = nullptr, dropout2 = nullptr;

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
};
HB_LIBRARY_MODULE(TransformerEncoderLayer);

/// The same with attention to the encoder's output between the two.
class HB_API TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead);
  explicit TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_);
  void reset() override;
  void reset_parameters();
  Tensor forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});

  TransformerDecoderLayerOptions options;
  MultiheadAttention self_attn{nullptr};
  Dropout dropout1{nullptr};
  LayerNorm norm1{nullptr};
  MultiheadAttention multihead_attn{nullptr};
  Dropout dropout2{nullptr};
  LayerNorm norm2{nullptr};
  Linear linear1{nullptr};
  Dropout dropout{nullptr};
  Linear linear2{nullptr};
  Dropout dropout3{nullptr};
  LayerNorm norm3{nullptr};

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
  Tensor activation(const Tensor& input);
};
HB_LIBRARY_MODULE(TransformerDecoderLayer);

struct HB_API TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers);
  HB_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;
  HB_ARG(int64_t, num_layers);
  HB_ARG(AnyModule, norm);
};
struct HB_API TransformerDecoderOptions {
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options, int64_t num_layers);
  HB_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;
  HB_ARG(int64_t, num_layers);
  HB_ARG(AnyModule, norm);
};

/// num_layers copies of a layer.
class HB_API TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  explicit TransformerEncoderImpl(TransformerEncoderOptions options_);
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {});
  void reset() override;
  void reset_parameters();

  TransformerEncoderOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
};
HB_LIBRARY_MODULE(TransformerEncoder);

class HB_API TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  explicit TransformerDecoderImpl(TransformerDecoderOptions options_);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});

  TransformerDecoderOptions options;
  ModuleList layers{nullptr};
  AnyModule norm;

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
};
HB_LIBRARY_MODULE(TransformerDecoder);

struct HB_API TransformerOptions {
  TransformerOptions();
  TransformerOptions(int64_t d_model, int64_t nhead);
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers);
  HB_ARG(int64_t, d_model) = 512;
  HB_ARG(int64_t, nhead) = 8;
  HB_ARG(int64_t, num_encoder_layers) = 6;
  HB_ARG(int64_t, num_decoder_layers) = 6;
  HB_ARG(int64_t, dim_feedforward) = 2048;
  HB_ARG(double, dropout) = 0.1;
  HB_ARG_COMPILED(activation_t, activation) = kReLU;
  HB_ARG(AnyModule, custom_encoder);
  HB_ARG(AnyModule, custom_decoder);
};

/// Encoder and decoder.
class HB_API TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  explicit TransformerImpl(TransformerOptions options_);
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {}, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& src_key_padding_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});
  void reset() override;
  void reset_parameters();
  /// (sz, sz): -inf above the diagonal, else 0.
  static Tensor generate_square_subsequent_mask(int64_t sz);

  TransformerOptions options;
  AnyModule encoder;
  AnyModule decoder;

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
};
HB_LIBRARY_MODULE(Transformer);

}  // namespace modules
}  // namespace hb::bridge::nn
