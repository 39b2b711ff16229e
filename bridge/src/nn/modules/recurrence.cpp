#include "recurrence.h"

#include <algorithm>

#include "autocast/autocast.h"
#include "core/recorder.h"
#include "core/watch_threads.h"
#include "ops/nn/lstm_layer.h"
#include "ops/nn/rnn.h"

namespace hb::bridge::nn::recurrence {

namespace {

using Result = std::pair<Tensor, State>;

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
// or watches the functions in it. A recording, which watches them to learn of tensors, is told of those here.
bool whole_layer(const detail::RNNOptionsBase& o, const Tensor& input, const std::vector<int64_t>& batch_sizes,
                 const State& state, const Weights& w) {
  if (!std::holds_alternative<enumtype::kLSTM>(o.mode()) || w.hr.defined()) return false;
  settle_watchers_of_thread();
  if ((front::active & ~(capture::recorder() ? front::kSeen : 0)) != 0) return false;
  if (batch_sizes.front() != batch_sizes.back() || input.numel() == 0 || !input.is_floating_point()) return false;
  const auto fits = [&](const Tensor& t) {
    return !t.defined() || (t.scalar_type() == input.scalar_type() && t.device() == input.device());
  };
  return fits(state[0]) && fits(state[1]) && fits(w.ih) && fits(w.hh) && fits(w.b_ih) && fits(w.b_hh);
}

// Layer by layer, from functions.
Result composed(const detail::RNNOptionsBase& o, const WeightsOf& weights, bool training, Tensor input,
                const std::vector<int64_t>& batch_sizes, const State& initial) {
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
        for (const Tensor* t :
             std::initializer_list<const Tensor*>{&input, &state[0], &state[1], &w.ih, &w.hh, &w.b_ih, &w.b_hh})
          capture::uses(*t);
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
// The same of sequences of one length.
Result composed_of_padded(const detail::RNNOptionsBase& o, const WeightsOf& weights, bool training, const Tensor& given,
                          const State& initial) {
  const Tensor input = o.batch_first() ? given.transpose(0, 1) : given;
  const std::vector<int64_t> batch_sizes(static_cast<size_t>(input.size(0)), input.size(1));
  auto [output, state] = composed(o, weights, training, input.flatten(0, 1), batch_sizes, initial);
  output = output.view({input.size(0), input.size(1), output.size(1)});
  return {o.batch_first() ? output.transpose(0, 1) : output, state};
}

RnnMode mode_of(const detail::RNNOptionsBase& o) {
  if (std::holds_alternative<enumtype::kLSTM>(o.mode())) return RnnMode::lstm;
  if (std::holds_alternative<enumtype::kGRU>(o.mode())) return RnnMode::gru;
  return std::holds_alternative<enumtype::kRNN_RELU>(o.mode()) ? RnnMode::relu : RnnMode::tanh;
}
RnnNetwork network_of(const detail::RNNOptionsBase& o, const Tensor& input) {
  RnnNetwork net;
  net.dtype = input.scalar_type(), net.mode = mode_of(o);
  net.bidirectional = o.bidirectional(), net.biased = o.bias();
  net.batch_first = input.dim() == 3 && o.batch_first();
  net.features = input.size(-1), net.hidden = o.hidden_size(), net.layers = o.num_layers();
  net.out = o.proj_size() > 0 ? o.proj_size() : o.hidden_size();
  return net;
}

/// Some layers without dropout between them, their weights and states among them.
struct Stack {
  detail::RNNOptionsBase options;
  std::vector<int64_t> batch_sizes;  // of padded input none
  size_t states;

  int64_t directions() const { return options.bidirectional() ? 2 : 1; }
  /// The input, the states and the weights in the order of ops::rnn.
  variable_list inputs(const WeightsOf& weights, const Tensor& input, const State& initial) const {
    variable_list all{input};
    all.insert(all.end(), initial.begin(), initial.end());
    for (int64_t i = 0; i < options.num_layers() * directions(); ++i) {
      const Weights w = weights(i / directions(), i % directions() == 1);
      all.insert(all.end(), {w.ih, w.hh});
      if (options.bias()) all.insert(all.end(), {w.b_ih, w.b_hh});
      if (options.proj_size() > 0) all.push_back(w.hr);
    }
    return all;
  }
  Result by_functions(const WeightsOf& weights, const Tensor& input, const State& initial) const {
    return input.dim() == 3 ? composed_of_padded(options, weights, false, input, initial)
                            : composed(options, weights, false, input, batch_sizes, initial);
  }
  variable_list formula(const variable_list& v) const {
    const int64_t each = 2 + (options.bias() ? 2 : 0) + (options.proj_size() > 0 ? 1 : 0);
    const WeightsOf weights = [&](int64_t layer, bool reverse) {
      const Tensor* w = v.data() + 1 + states + (layer * directions() + reverse) * each;
      Weights found{w[0], w[1], {}, {}, {}};
      if (options.bias()) found.b_ih = w[2], found.b_hh = w[3];
      if (options.proj_size() > 0) found.hr = w[each - 1];
      return found;
    };
    const auto first = v.begin() + 1;
    auto [output, state] = by_functions(weights, v[0], State(first, first + static_cast<std::ptrdiff_t>(states)));
    state.insert(state.begin(), output);
    return state;
  }
};

// By the device's own network where it has one.
Result run_stack(const Stack& s, const WeightsOf& weights, const Tensor& input, const State& initial) {
  const variable_list inputs = s.inputs(weights, input, initial);
  const auto fits = [&](const Tensor& t) {
    return t.defined() && t.numel() > 0 && t.scalar_type() == input.scalar_type() && t.device() == input.device();
  };
  if (input.is_floating_point() && std::all_of(inputs.begin(), inputs.end(), fits)) {
    const RnnNetwork net = network_of(s.options, input);
    std::vector<int64_t> batch_sizes = s.batch_sizes;
    if (input.dim() == 3) batch_sizes.assign(input.size(net.batch_first ? 1 : 0), input.size(net.batch_first ? 0 : 1));
    auto done = ops::rnn(net, inputs, batch_sizes, [s](const variable_list& v) { return s.formula(v); });
    if (done) return {(*done)[0], State(done->begin() + 1, done->end())};
  }
  return s.by_functions(weights, input, initial);
}

// All layers at once, or one after the other where dropout comes between them: the numbers are then those of the
// device's generator.
Result by_device(const detail::RNNOptionsBase& o, const WeightsOf& weights, bool training, Tensor input,
                 const std::vector<int64_t>& batch_sizes, const State& initial) {
  Stack stack{o, batch_sizes, initial.size()};
  stack.options.dropout(0);
  if (!training || o.dropout() == 0 || o.num_layers() == 1) return run_stack(stack, weights, input, initial);
  stack.options.num_layers(1);
  std::vector<std::vector<Tensor>> last(initial.size());
  for (int64_t layer = 0; layer < o.num_layers(); ++layer) {
    State state;
    for (const Tensor& t : initial) state.push_back(t.narrow(0, layer * stack.directions(), stack.directions()));
    const WeightsOf of_layer = [&](int64_t, bool reverse) { return weights(layer, reverse); };
    Result result = run_stack(stack, of_layer, input, state);
    input = layer + 1 < o.num_layers() ? hb::dropout(result.first, o.dropout(), true) : result.first;
    for (size_t i = 0; i < last.size(); ++i) last[i].push_back(result.second[i]);
  }
  State states;
  for (const auto& parts : last) states.push_back(hb::cat(parts));
  return {input, states};
}

}  // namespace

std::pair<Tensor, State> run(const detail::RNNOptionsBase& o, const WeightsOf& weights, bool training,
                             const Tensor& input, const std::vector<int64_t>& batch_sizes, const State& initial) {
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
  if (ops::has_rnn(input.device())) return by_device(o, weights, training, input, batch_sizes, initial);
  if (input.dim() == 3) return composed_of_padded(o, weights, training, input, initial);
  return composed(o, weights, training, input, batch_sizes, initial);
}

}  // namespace hb::bridge::nn::recurrence
