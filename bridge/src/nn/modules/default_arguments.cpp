// What `forward` of the library's modules takes where AnyModule or Sequential give it less: {position, default}.
#include <halfbridge/bridge/nn/attention.h>
#include <halfbridge/bridge/nn/conv.h>
#include <halfbridge/bridge/nn/embedding.h>
#include <halfbridge/bridge/nn/pooling.h>
#include <halfbridge/bridge/nn/rnn.h>
#include <halfbridge/bridge/nn/transformer.h>

namespace hb::bridge::nn {
inline namespace modules {
namespace {

struct Default {
  unsigned int position;
  AnyValue value;
};

std::vector<AnyValue> populate(std::vector<AnyValue> arguments, std::initializer_list<Default> defaults) {
  for (const Default& d : defaults)
    if (d.position >= arguments.size()) arguments.push_back(d.value);
  return arguments;
}

}  // namespace

#define HB_DEFAULTS(Class, first, ...)                                                             \
  bool Class::_forward_has_default_args() { return true; }                                         \
  unsigned int Class::_forward_num_required_args() { return first; }                               \
  std::vector<AnyValue> Class::_forward_populate_default_args(std::vector<AnyValue>&& arguments) { \
    return populate(std::move(arguments), {__VA_ARGS__});                                          \
  }
HB_DEFAULTS(ConvTranspose1dImpl, 1, {1, AnyValue(std::optional<IntArrayRef>())})
HB_DEFAULTS(ConvTranspose2dImpl, 1, {1, AnyValue(std::optional<IntArrayRef>())})
HB_DEFAULTS(ConvTranspose3dImpl, 1, {1, AnyValue(std::optional<IntArrayRef>())})
HB_DEFAULTS(MaxUnpool1dImpl, 2, {2, AnyValue(std::optional<std::vector<int64_t>>())})
HB_DEFAULTS(MaxUnpool2dImpl, 2, {2, AnyValue(std::optional<std::vector<int64_t>>())})
HB_DEFAULTS(MaxUnpool3dImpl, 2, {2, AnyValue(std::optional<std::vector<int64_t>>())})
HB_DEFAULTS(RNNImpl, 1, {1, AnyValue(Tensor())})
HB_DEFAULTS(LSTMImpl, 1, {1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})
HB_DEFAULTS(GRUImpl, 1, {1, AnyValue(Tensor())})
HB_DEFAULTS(RNNCellImpl, 1, {1, AnyValue(Tensor())})
HB_DEFAULTS(LSTMCellImpl, 1, {1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})
HB_DEFAULTS(GRUCellImpl, 1, {1, AnyValue(Tensor())})
HB_DEFAULTS(MultiheadAttentionImpl, 3, {3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())},
            {6, AnyValue(true)})
HB_DEFAULTS(TransformerEncoderLayerImpl, 1, {1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
HB_DEFAULTS(TransformerDecoderLayerImpl, 2, {2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
            {5, AnyValue(Tensor())})
HB_DEFAULTS(TransformerEncoderImpl, 1, {1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
HB_DEFAULTS(TransformerDecoderImpl, 2, {2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
            {5, AnyValue(Tensor())})
HB_DEFAULTS(TransformerImpl, 2, {2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
            {5, AnyValue(Tensor())}, {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})
HB_DEFAULTS(EmbeddingBagImpl, 1, {1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
#undef HB_DEFAULTS

}  // namespace modules
}  // namespace hb::bridge::nn
