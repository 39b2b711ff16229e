// Functions with LibTorch's schemas that the dispatcher does not have: parts of tensors and layers.
#include <halfbridge/bridge/nn/embedding.h>
#include <halfbridge/bridge/nn/rnn_functions.h>
#include <halfbridge/bridge/underscored.h>
#include <halfbridge/ops.h>

#include "script/operators_own.h"

namespace hb::bridge::script {
namespace {

// Unlike parts of chunk(), these may be changed in place each for itself.
std::vector<Tensor> copies(std::vector<Tensor> parts) {
  for (Tensor& part : parts) part = part.clone();
  return parts;
}
std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  return copies(hb::chunk(self, chunks, dim));
}
std::vector<Tensor> unsafe_split(const Tensor& self, int64_t size, int64_t dim) {
  return copies(hb::split(self, size, dim));
}
std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntArrayRef sizes, int64_t dim) {
  return copies(hb::split_with_sizes(self, sizes, dim));
}
Tensor convolution_mode(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                        IntArrayRef stride, std::string_view padding, IntArrayRef dilation, int64_t groups) {
  return bridge::_convolution_mode(input, weight, bias, stride, padding, dilation, groups);
}

Tensor max_pool1d(const Tensor& x, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return hb::max_pool1d(x, kernel, stride, padding, dilation, ceil_mode);
}
Tensor max_pool2d(const Tensor& x, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return hb::max_pool2d(x, kernel, stride, padding, dilation, ceil_mode);
}
Tensor max_pool3d(const Tensor& x, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return hb::max_pool3d(x, kernel, stride, padding, dilation, ceil_mode);
}
TensorTuple2 max_pool1d_with_indices(const Tensor& x, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                                     IntArrayRef dilation, bool ceil_mode) {
  return hb::max_pool1d_with_indices(x, kernel, stride, padding, dilation, ceil_mode);
}
TensorTuple2 adaptive_max_pool1d(const Tensor& x, IntArrayRef size) { return hb::adaptive_max_pool1d(x, size); }

TensorTuple3 lstm(const Tensor& input, TensorList hx, TensorList params, bool biases, int64_t layers, double dropout,
                  bool train, bool bidirectional, bool batch_first) {
  return bridge::lstm(input, hx, params, biases, layers, dropout, train, bidirectional, batch_first);
}
TensorTuple3 lstm_packed(const Tensor& data, const Tensor& batch_sizes, TensorList hx, TensorList params, bool biases,
                         int64_t layers, double dropout, bool train, bool bidirectional) {
  return bridge::lstm(data, batch_sizes, hx, params, biases, layers, dropout, train, bidirectional);
}
#define HB_RECURRENT(name)                                                                                       \
  TensorTuple2 name(const Tensor& input, const Tensor& hx, TensorList params, bool biases, int64_t layers,       \
                    double dropout, bool train, bool bidirectional, bool batch_first) {                          \
    return bridge::name(input, hx, params, biases, layers, dropout, train, bidirectional, batch_first);          \
  }                                                                                                              \
  TensorTuple2 name##_packed(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, \
                             bool biases, int64_t layers, double dropout, bool train, bool bidirectional) {      \
    return bridge::name(data, batch_sizes, hx, params, biases, layers, dropout, train, bidirectional);           \
  }
HB_RECURRENT(gru)
HB_RECURRENT(rnn_tanh)
HB_RECURRENT(rnn_relu)
#undef HB_RECURRENT

using FourTensors = std::tuple<Tensor, Tensor, Tensor, Tensor>;
FourTensors embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale, int64_t mode,
                          bool sparse, const std::optional<Tensor>& weights, bool last,
                          std::optional<int64_t> padding) {
  return bridge::embedding_bag(weight, indices, offsets, scale, mode, sparse, weights, last, padding);
}
TensorTuple2 pack(const Tensor& input, const Tensor& lengths, bool batch_first) {
  return bridge::_pack_padded_sequence(input, lengths, batch_first);
}
TensorTuple2 pad_packed(const Tensor& data, const Tensor& batch_sizes, bool batch_first, const Scalar& value,
                        int64_t total) {
  return bridge::_pad_packed_sequence(data, batch_sizes, batch_first, value, total);
}
Tensor weight_norm(const Tensor& v, const Tensor& g, int64_t dim) { return bridge::_weight_norm(v, g, dim); }
Tensor shape_as_tensor(const Tensor& self) { return bridge::_shape_as_tensor(self); }
Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool corners) {
  return hb::grid_sampler(input, grid, mode, padding, corners);
}

#define HB_WINDOWS(n)                                                                        \
  "(Tensor self, int[" n "] kernel_size, int[" n "] stride=[], int[" n "] padding=0, int[" n \
  "] dilation=1, bool ceil_mode=False) -> "
#define HB_STACKED ", Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"

constexpr OwnRow kRows[] = {
    {"aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", on_stack<&unsafe_chunk>},
    {"aten::unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]", on_stack<&unsafe_split>},
    {"aten::unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
     on_stack<&unsafe_split_with_sizes>},
    {"aten::_convolution_mode(Tensor input, Tensor weight, Tensor? bias, int[] stride, str padding, int[] dilation, "
     "int groups) -> Tensor",
     on_stack<&convolution_mode>},
    {"aten::max_pool1d" HB_WINDOWS("1") "Tensor", on_stack<&max_pool1d>},
    {"aten::max_pool2d" HB_WINDOWS("2") "Tensor", on_stack<&max_pool2d>},
    {"aten::max_pool3d" HB_WINDOWS("3") "Tensor", on_stack<&max_pool3d>},
    {"aten::max_pool1d_with_indices" HB_WINDOWS("1") "(Tensor, Tensor)", on_stack<&max_pool1d_with_indices>},
    {"aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)", on_stack<&adaptive_max_pool1d>},
    {"aten::lstm.input(Tensor input, Tensor[] hx" HB_STACKED ", bool batch_first) -> (Tensor, Tensor, Tensor)",
     on_stack<&lstm>},
    {"aten::lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx" HB_STACKED ") -> (Tensor, Tensor, Tensor)",
     on_stack<&lstm_packed>},
    {"aten::gru.input(Tensor input, Tensor hx" HB_STACKED ", bool batch_first) -> (Tensor, Tensor)", on_stack<&gru>},
    {"aten::gru.data(Tensor data, Tensor batch_sizes, Tensor hx" HB_STACKED ") -> (Tensor, Tensor)",
     on_stack<&gru_packed>},
    {"aten::rnn_tanh.input(Tensor input, Tensor hx" HB_STACKED ", bool batch_first) -> (Tensor, Tensor)",
     on_stack<&rnn_tanh>},
    {"aten::rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx" HB_STACKED ") -> (Tensor, Tensor)",
     on_stack<&rnn_tanh_packed>},
    {"aten::rnn_relu.input(Tensor input, Tensor hx" HB_STACKED ", bool batch_first) -> (Tensor, Tensor)",
     on_stack<&rnn_relu>},
    {"aten::rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx" HB_STACKED ") -> (Tensor, Tensor)",
     on_stack<&rnn_relu_packed>},
    {"aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, "
     "bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> "
     "(Tensor, Tensor, Tensor, Tensor)",
     on_stack<&embedding_bag>},
    {"aten::_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)",
     on_stack<&pack>},
    {"aten::_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, "
     "int total_length) -> (Tensor, Tensor)",
     on_stack<&pad_packed>},
    {"aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", on_stack<&weight_norm>},
    {"aten::_shape_as_tensor(Tensor self) -> Tensor", on_stack<&shape_as_tensor>},
    {"aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) "
     "-> Tensor",
     on_stack<&grid_sampler_2d>},
};
#undef HB_WINDOWS
#undef HB_STACKED

}  // namespace

std::span<const OwnRow> own_layers() { return kRows; }

}  // namespace hb::bridge::script
