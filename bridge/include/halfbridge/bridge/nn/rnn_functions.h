#pragma once
// Recurrent networks as functions of their weights, and sequences padded to one length: torch::lstm and its kin.

#include <halfbridge/tensor.h>

namespace hb::bridge {

namespace nn::utils::rnn {
/// Sequences (L_i, …) as one tensor (T, B, …), or (B, T, …) with batch_first.
HB_API Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first = false, double padding_value = 0,
                           std::string_view padding_side = "right");
}  // namespace nn::utils::rnn

inline namespace api {

using nn::utils::rnn::pad_sequence;

/// input (T, B, features), or (B, T, features) with batch_first; hx: h (layers * directions, B, hidden or projection)
/// and, of an LSTM, c. params: for each layer, for each direction, w_ih, w_hh, then b_ih and b_hh if there are biases,
/// then w_hr if an LSTM's h is narrower than its c. Gives the output and the last states.
HB_API TensorTuple3 lstm(const Tensor& input, TensorList hx, TensorList params, bool has_biases, int64_t num_layers,
                         double dropout, bool train, bool bidirectional, bool batch_first);
/// The data (steps, features) and batch sizes of a PackedSequence.
HB_API TensorTuple3 lstm(const Tensor& data, const Tensor& batch_sizes, TensorList hx, TensorList params,
                         bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional);
#define HB_RNN(name)                                                                                              \
  HB_API TensorTuple2 name(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases,             \
                           int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first); \
  HB_API TensorTuple2 name(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params,    \
                           bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional);
HB_RNN(gru)
HB_RNN(rnn_tanh)
HB_RNN(rnn_relu)
#undef HB_RNN

}  // namespace api
}  // namespace hb::bridge
