#include <halfbridge/bridge/nn/rnn_functions.h>

#include "recurrence.h"

namespace hb::bridge {
inline namespace api {

namespace {

using nn::detail::RNNOptionsBase;
using nn::recurrence::State;
using nn::recurrence::Weights;

/// The arguments that all functions of this file have.
struct Network {
  const char* name;
  RNNOptionsBase::rnn_options_base_mode_t mode;
  TensorList params;
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;

  int64_t gates() const {
    return std::holds_alternative<enumtype::kLSTM>(mode) ? 4 : std::holds_alternative<enumtype::kGRU>(mode) ? 3 : 1;
  }
};

/// An LSTM whose h is narrower than its c projects it.
int64_t projection(const State& hx) { return hx.size() == 2 && hx[0].size(-1) != hx[1].size(-1) ? hx[0].size(-1) : 0; }

RNNOptionsBase options_of(const Network& net, const State& hx, int64_t features) {
  HB_CHECK(net.num_layers > 0, "[", net.name, "] expected at least one layer, got ", net.num_layers);
  HB_CHECK(net.dropout >= 0 && net.dropout <= 1, "[", net.name,
           "] dropout probability has to be between 0 and 1, but got ", net.dropout);
  RNNOptionsBase o(net.mode, features, hx.back().size(-1));
  o.num_layers(net.num_layers).bias(net.has_biases).dropout(net.dropout).bidirectional(net.bidirectional);
  o.proj_size(projection(hx));
  return o;
}

void check_states(const Network& net, const State& hx, int64_t batch) {
  const size_t parts = net.gates() == 4 ? 2 : 1;
  HB_CHECK(hx.size() == parts, "[", net.name, "] expected ", parts, " hidden states, got ", hx.size());
  for (const Tensor& h : hx) {
    HB_CHECK(h.dim() == 3, "[", net.name, "] expected hidden states of 3 dimensions, got ", h.sizes());
    HB_CHECK(h.size(0) == net.num_layers * (net.bidirectional ? 2 : 1) && h.size(1) == batch, "[", net.name,
             "] expected hidden states for ", net.num_layers * (net.bidirectional ? 2 : 1),
             " layers and directions and a batch of ", batch, ", got ", h.sizes());
  }
}

/// Throws unless there are as many weights as layers need, of fitting shapes.
void check_weights(const Network& net, const RNNOptionsBase& o, int64_t each) {
  const int64_t directions = net.bidirectional ? 2 : 1, rows = net.gates() * o.hidden_size();
  const int64_t out = o.proj_size() ? o.proj_size() : o.hidden_size();
  HB_CHECK(static_cast<int64_t>(net.params.size()) == net.num_layers * directions * each, "[", net.name, "] expected ",
           net.num_layers * directions * each, " weights, ", each, " for each layer and direction, got ",
           net.params.size());
  for (size_t i = 0; i < net.params.size(); i += each) {
    const int64_t in = static_cast<int64_t>(i) < directions * each ? o.input_size() : out * directions;
    HB_CHECK(net.params[i].sizes() == IntArrayRef({rows, in}), "[", net.name, "] expected a weight_ih of shape [", rows,
             ", ", in, "], got ", net.params[i].sizes());
    HB_CHECK(net.params[i + 1].sizes() == IntArrayRef({rows, out}), "[", net.name, "] expected a weight_hh of shape [",
             rows, ", ", out, "], got ", net.params[i + 1].sizes());
  }
}

/// batch_sizes: of packed data.
std::pair<Tensor, State> run(const Network& net, const Tensor& data, const std::vector<int64_t>& batch_sizes,
                             const State& hx, int64_t steps, int64_t batch, bool batch_first) {
  HB_CHECK(steps > 0, "[", net.name, "] Expected sequence length to be larger than 0 in RNN");
  check_states(net, hx, batch);
  RNNOptionsBase o = options_of(net, hx, data.size(-1));
  o.batch_first(batch_first);
  const int64_t each = 2 + (net.has_biases ? 2 : 0) + (o.proj_size() ? 1 : 0);
  check_weights(net, o, each);
  const auto weights = [&](int64_t layer, bool reverse) {
    const Tensor* w = net.params.data() + (layer * (net.bidirectional ? 2 : 1) + reverse) * each;
    Weights found{w[0], w[1], {}, {}, {}};
    if (net.has_biases) found.b_ih = w[2], found.b_hh = w[3];
    if (o.proj_size()) found.hr = w[each - 1];
    return found;
  };
  return nn::recurrence::run(o, weights, net.train, data, batch_sizes, hx);
}

std::pair<Tensor, State> run_padded(const Network& net, const Tensor& given, const State& hx, bool batch_first) {
  HB_CHECK(given.dim() == 3, "[", net.name, "] expected an input of 3 dimensions, got ", given.sizes());
  return run(net, given, {}, hx, given.size(batch_first ? 1 : 0), given.size(batch_first ? 0 : 1), batch_first);
}

std::pair<Tensor, State> run_packed(const Network& net, const Tensor& data, const Tensor& batch_sizes,
                                    const State& hx) {
  HB_CHECK(data.dim() == 2, "[", net.name, "] expected packed data of 2 dimensions, got ", data.sizes());
  HB_CHECK(batch_sizes.dim() == 1 && batch_sizes.scalar_type() == kLong, "[", net.name,
           "] expected batch_sizes of 1 dimension and dtype Long, got ", batch_sizes.scalar_type(), " ",
           batch_sizes.sizes());
  const Tensor sizes = batch_sizes.contiguous().cpu();
  const auto* first = sizes.data_ptr<int64_t>();
  const std::vector<int64_t> list(first, first + sizes.numel());
  return run(net, data, list, hx, sizes.numel(), list.empty() ? 0 : list[0], /*batch_first=*/false);
}

State state_of(TensorList hx) { return State(hx.begin(), hx.end()); }

}  // namespace

TensorTuple3 lstm(const Tensor& input, TensorList hx, TensorList params, bool has_biases, int64_t num_layers,
                  double dropout, bool train, bool bidirectional, bool batch_first) {
  const Network net{"lstm", enumtype::kLSTM(), params, has_biases, num_layers, dropout, train, bidirectional};
  const auto [output, state] = run_padded(net, input, state_of(hx), batch_first);
  return {output, state[0], state[1]};
}
TensorTuple3 lstm(const Tensor& data, const Tensor& batch_sizes, TensorList hx, TensorList params, bool has_biases,
                  int64_t num_layers, double dropout, bool train, bool bidirectional) {
  const Network net{"lstm", enumtype::kLSTM(), params, has_biases, num_layers, dropout, train, bidirectional};
  const auto [output, state] = run_packed(net, data, batch_sizes, state_of(hx));
  return {output, state[0], state[1]};
}

#define HB_RNN(name, kind)                                                                                         \
  TensorTuple2 name(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, \
                    double dropout, bool train, bool bidirectional, bool batch_first) {                            \
    const Network net{#name, enumtype::kind(), params, has_biases, num_layers, dropout, train, bidirectional};     \
    const auto [output, state] = run_padded(net, input, State{hx}, batch_first);                                   \
    return {output, state[0]};                                                                                     \
  }                                                                                                                \
  TensorTuple2 name(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params,            \
                    bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {         \
    const Network net{#name, enumtype::kind(), params, has_biases, num_layers, dropout, train, bidirectional};     \
    const auto [output, state] = run_packed(net, data, batch_sizes, State{hx});                                    \
    return {output, state[0]};                                                                                     \
  }
HB_RNN(gru, kGRU)
HB_RNN(rnn_tanh, kRNN_TANH)
HB_RNN(rnn_relu, kRNN_RELU)
#undef HB_RNN

}  // namespace api
}  // namespace hb::bridge
