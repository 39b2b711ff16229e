#include "recurrence.h"

#include <algorithm>

#include "autocast/autocast.h"
#include "ops/nn/lstm_layer.h"

namespace hb::bridge::nn::recurrence {

namespace {

// One step of some sequences, from the input's part of the gates.
State step(const detail::RNNOptionsBase& o, const Tensor& input_gates, const State& state, const Weights& w) {
  const Tensor& h = state[0];
  Tensor hidden_gates = hb::linear(h, w.hh, w.b_hh);
  if (std::holds_alternative<enumtype::kRNN_TANH>(o.mode())) return {hb::tanh(input_gates + hidden_gates)};
  if (std::holds_alternative<enumtype::kRNN_RELU>(o.mode())) return {hb::relu(input_gates + hidden_gates)};
  if (std::holds_alternative<enumtype::kGRU>(o.mode())) {
    auto x = input_gates.chunk(3, 1), y = hidden_gates.chunk(3, 1);
    Tensor reset = hb::sigmoid(x[0] + y[0]), update = hb::sigmoid(x[1] + y[1]);
    Tensor candidate = hb::tanh(x[2] + reset * y[2]);
    return {candidate + update * (h - candidate)};
  }
  auto gates = (input_gates + hidden_gates).chunk(4, 1);
  Tensor c = hb::sigmoid(gates[1]) * state[1] + hb::sigmoid(gates[0]) * hb::tanh(gates[2]);
  Tensor next = hb::sigmoid(gates[3]) * hb::tanh(c);
  if (w.hr.defined()) next = hb::linear(next, w.hr);
  return {next, c};
}

State rows(const State& state, int64_t from, int64_t count) {
  State part;
  for (const Tensor& t : state) part.push_back(t.narrow(0, from, count));
  return part;
}

State joined(const State& a, const State& b) {
  State whole;
  for (size_t i = 0; i < a.size(); ++i) whole.push_back(hb::cat({a[i], b[i]}));
  return whole;
}

// From the first step: sequences end one after another.
std::pair<std::vector<Tensor>, State> forwards(const detail::RNNOptionsBase& o, const std::vector<Tensor>& gates,
                                               State state, const Weights& w) {
  std::vector<Tensor> outputs;
  std::vector<State> ended;
  for (const Tensor& g : gates) {
    const int64_t alive = state[0].size(0), count = g.size(0);
    if (count < alive) {
      ended.push_back(rows(state, count, alive - count));
      state = rows(state, 0, count);
    }
    state = step(o, g, state, w);
    outputs.push_back(state[0]);
  }
  for (; !ended.empty(); ended.pop_back()) state = joined(state, ended.back());
  return {outputs, state};
}

// From the last step: sequences begin one after another.
std::pair<std::vector<Tensor>, State> backwards(const detail::RNNOptionsBase& o, const std::vector<Tensor>& gates,
                                                const State& initial, const Weights& w) {
  std::vector<Tensor> outputs(gates.size());
  State state = rows(initial, 0, gates.back().size(0));
  for (size_t t = gates.size(); t-- > 0;) {
    const int64_t alive = state[0].size(0), count = gates[t].size(0);
    if (count > alive) state = joined(state, rows(initial, alive, count - alive));
    state = step(o, gates[t], state, w);
    outputs[t] = state[0];
  }
  return {outputs, state};
}

// Whether autocast casts a whole recurrent layer, not the functions in it, as CUDA's list does (cuDNN's kernel),
// and the CPU's for an LSTM in bfloat16 (oneDNN's kernel).
bool whole_in_half(const detail::RNNOptionsBase& o, const Tensor& input) {
  const DeviceType device = input.device().type();
  if (!autocast::is_autocast_available(device) || !autocast::is_autocast_enabled(device)) return false;
  if (!autocast::is_eligible(input, device)) return false;
  if (autocast::get_op_list(device) != kCPU) return true;
  return std::holds_alternative<enumtype::kLSTM>(o.mode()) && o.proj_size() == 0 &&
         autocast::get_autocast_dtype(device) == kBFloat16 && input.scalar_type() != kHalf;
}

// Whether a layer can run as one function: an LSTM without projection over sequences of one length, while nobody casts
// or watches the functions in it.
bool whole_layer(const detail::RNNOptionsBase& o, const Tensor& input, const std::vector<int64_t>& batch_sizes,
                 const State& state, const Weights& w) {
  if (!std::holds_alternative<enumtype::kLSTM>(o.mode()) || w.hr.defined() || front::active != 0) return false;
  if (batch_sizes.front() != batch_sizes.back() || input.numel() == 0 || !input.is_floating_point()) return false;
  const auto fits = [&](const Tensor& t) {
    return !t.defined() || (t.scalar_type() == input.scalar_type() && t.device() == input.device());
  };
  return fits(state[0]) && fits(state[1]) && fits(w.ih) && fits(w.hh) && fits(w.b_ih) && fits(w.b_hh);
}

}  // namespace

std::pair<Tensor, State> run(const detail::RNNOptionsBase& o, const WeightsOf& weights, bool training, Tensor input,
                             const std::vector<int64_t>& batch_sizes, const State& initial) {
  if (whole_in_half(o, input)) {
    const DeviceType device = input.device().type();
    const auto cast = [&](const Tensor& t) {
      return autocast::cached_cast(autocast::get_autocast_dtype(device), t, device);
    };
    State state;
    for (const Tensor& t : initial) state.push_back(cast(t));
    const WeightsOf halves = [&](int64_t layer, bool reverse) {
      const Weights w = weights(layer, reverse);
      return Weights{cast(w.ih), cast(w.hh), cast(w.b_ih), cast(w.b_hh), cast(w.hr)};
    };
    const Tensor x = cast(input);
    front::Excluded excluded;
    return run(o, halves, training, x, batch_sizes, state);
  }
  const int64_t directions = o.bidirectional() ? 2 : 1;
  std::vector<std::vector<Tensor>> last(initial.size());
  for (int64_t layer = 0; layer < o.num_layers(); ++layer) {
    std::vector<Tensor> results;
    for (int64_t direction = 0; direction < directions; ++direction) {
      const Weights w = weights(layer, direction == 1);
      State state;
      for (const Tensor& t : initial) state.push_back(t[layer * directions + direction]);
      if (whole_layer(o, input, batch_sizes, state, w)) {
        const auto steps = static_cast<int64_t>(batch_sizes.size());
        auto [output, h, c] =
            ops::lstm_layer(input, state[0], state[1], {w.ih, w.hh, w.b_ih, w.b_hh}, steps, direction == 1);
        results.push_back(output), last[0].push_back(h), last[1].push_back(c);
        continue;
      }
      // The input's part of all gates in one product.
      auto gates = hb::linear(input, w.ih, w.b_ih).split_with_sizes(batch_sizes, 0);
      auto [outputs, final] = direction ? backwards(o, gates, state, w) : forwards(o, gates, state, w);
      results.push_back(hb::cat(outputs));
      for (size_t i = 0; i < final.size(); ++i) last[i].push_back(final[i]);
    }
    input = results.size() == 1 ? results[0] : hb::cat(results, 1);
    if (o.dropout() > 0 && layer + 1 < o.num_layers()) input = hb::dropout(input, o.dropout(), training);
  }
  State states;
  for (const auto& parts : last) states.push_back(hb::stack(parts));
  return {input, states};
}

}  // namespace hb::bridge::nn::recurrence
