#include <halfbridge/bridge/nn/rnn.h>

#include <cmath>
#include <ostream>

#include <halfbridge/bridge/nn/init.h>

#include "recurrence.h"

namespace hb::bridge::nn {

using recurrence::State;
using utils::rnn::PackedSequence;

namespace {

int64_t gates_of(const detail::RNNOptionsBase& o) {
  return std::holds_alternative<enumtype::kLSTM>(o.mode())  ? 4
         : std::holds_alternative<enumtype::kGRU>(o.mode()) ? 3
                                                            : 1;
}

std::string suffix(int64_t layer, bool reverse) { return "_l" + std::to_string(layer) + (reverse ? "_reverse" : ""); }

void check_options(const detail::RNNOptionsBase& o) {
  HB_CHECK(o.dropout() >= 0 && o.dropout() <= 1,
           "dropout should be a number in range [0, 1] representing the probability of "
           "an element being zeroed, got ",
           o.dropout());
  if (o.dropout() > 0 && o.num_layers() == 1)
    hb::detail::warn(
        hb::detail::str("dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
                        "expects num_layers greater than 1, but got dropout=",
                        o.dropout(), " and num_layers=1"));
  HB_CHECK(o.hidden_size() > 0, "hidden_size must be greater than zero");
  HB_CHECK(o.num_layers() > 0, "num_layers must be greater than zero");
  HB_CHECK(o.proj_size() >= 0 && o.proj_size() < o.hidden_size(),
           "proj_size has to be a positive integer, smaller than hidden_size or zero to disable projections");
}

// The state given, or zeros, checked against the batch.
State complete(const detail::RNNOptionsBase& o, State state, int64_t batch, const Tensor& input) {
  const bool is_lstm = gates_of(o) == 4;
  const int64_t layers = o.num_layers() * (o.bidirectional() ? 2 : 1);
  const int64_t h_size = o.proj_size() > 0 ? o.proj_size() : o.hidden_size();
  if (state.empty() || !state[0].defined()) {
    state = {hb::zeros({layers, batch, h_size}, input.options())};
    if (is_lstm) state.push_back(hb::zeros({layers, batch, o.hidden_size()}, input.options()));
  }
  for (size_t i = 0; i < state.size(); ++i) {
    const std::vector<int64_t> expected{layers, batch, i ? o.hidden_size() : h_size};
    HB_CHECK(state[i].sizes() == expected, "Expected hidden", is_lstm ? i ? "[1]" : "[0]" : "", " size ", layers, " ",
             batch, " ", expected[2], ", got ", state[i].sizes());
  }
  return state;
}

void check_width(const detail::RNNOptionsBase& o, const Tensor& input, int64_t dims) {
  HB_CHECK(input.dim() == dims, "input must have ", dims, " dimensions, got ", input.dim());
  HB_CHECK(input.size(-1) == o.input_size(), "input.size(-1) must be equal to input_size. Expected ", o.input_size(),
           ", got ", input.size(-1));
}

template <class Parameters>
recurrence::WeightsOf weights_in(const detail::RNNOptionsBase& o, const Parameters& parameters) {
  return [&](int64_t layer, bool reverse) {
    auto find = [&](const char* kind) {
      const Tensor* t = parameters.find(kind + suffix(layer, reverse));
      return t ? *t : Tensor();
    };
    return recurrence::Weights{find("weight_ih"), find("weight_hh"), find("bias_ih"), find("bias_hh"),
                               find("weight_hr")};
  };
}

std::optional<std::tuple<Tensor, Tensor>> pair_of(const State& s) { return std::make_tuple(s[0], s[1]); }
State state_of(const Tensor& hx) { return hx.defined() ? State{hx} : State{}; }
State state_of(const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  return hx ? State{std::get<0>(*hx), std::get<1>(*hx)} : State{};
}

}  // namespace

namespace detail {

template <typename Derived>
void RNNImplBase<Derived>::reset() {
  const auto& o = options_base;
  check_options(o);
  const int64_t directions = o.bidirectional() ? 2 : 1, rows = gates_of(o) * o.hidden_size();
  const int64_t out = o.proj_size() > 0 ? o.proj_size() : o.hidden_size();
  for (int64_t layer = 0; layer < o.num_layers(); ++layer) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      const std::string end = suffix(layer, direction == 1);
      this->register_parameter("weight_ih" + end, hb::empty({rows, layer ? out * directions : o.input_size()}));
      this->register_parameter("weight_hh" + end, hb::empty({rows, out}));
      if (o.bias()) {
        this->register_parameter("bias_ih" + end, hb::empty({rows}));
        this->register_parameter("bias_hh" + end, hb::empty({rows}));
      }
      if (o.proj_size() > 0) this->register_parameter("weight_hr" + end, hb::empty({o.proj_size(), o.hidden_size()}));
    }
  }
  reset_parameters();
}

template <typename Derived>
void RNNImplBase<Derived>::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (auto& weight : this->parameters()) init::uniform_(weight, -bound, bound);
}

template <typename Derived>
void RNNImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const auto& o = options_base;
  stream << std::boolalpha << this->name().substr(0, this->name().size() - 4) << "(input_size=" << o.input_size()
         << ", hidden_size=" << o.hidden_size() << ", num_layers=" << o.num_layers() << ", bias=" << o.bias()
         << ", batch_first=" << o.batch_first() << ", dropout=" << o.dropout()
         << ", bidirectional=" << o.bidirectional();
  if (o.proj_size() > 0) stream << ", proj_size=" << o.proj_size();
  stream << ")";
}

template <typename Derived>
std::pair<Tensor, RecurrentState> RNNImplBase<Derived>::run_padded(const Tensor& given,
                                                                   const RecurrentState& initial) const {
  const auto& o = options_base;
  check_width(o, given, 3);
  const int64_t steps = given.size(o.batch_first() ? 1 : 0), batch = given.size(o.batch_first() ? 0 : 1);
  HB_CHECK(steps > 0, "Expected sequence length to be larger than 0 in RNN");
  return recurrence::run(o, weights_in(o, this->parameters_), this->is_training(), given, {},
                         complete(o, initial, batch, given));
}

template <typename Derived>
std::pair<PackedSequence, RecurrentState> RNNImplBase<Derived>::run_packed(const PackedSequence& packed,
                                                                           RecurrentState initial) const {
  const auto& o = options_base;
  check_width(o, packed.data(), 2);
  Tensor sizes = packed.batch_sizes().contiguous();
  std::vector<int64_t> batch_sizes(sizes.template data_ptr<int64_t>(),
                                   sizes.template data_ptr<int64_t>() + sizes.numel());
  HB_CHECK(!batch_sizes.empty(), "Expected sequence length to be larger than 0 in RNN");
  auto permute = [](RecurrentState& state, const Tensor& order) {
    if (order.defined())
      for (Tensor& t : state) t = t.index_select(1, order);
  };
  permute(initial, packed.sorted_indices());
  auto [output, state] = recurrence::run(o, weights_in(o, this->parameters_), this->is_training(), packed.data(),
                                         batch_sizes, complete(o, std::move(initial), batch_sizes[0], packed.data()));
  permute(state, packed.unsorted_indices());
  return {PackedSequence(output, packed.batch_sizes(), packed.sorted_indices(), packed.unsorted_indices()), state};
}

template class RNNImplBase<RNNImpl>;
template class RNNImplBase<LSTMImpl>;
template class RNNImplBase<GRUImpl>;

}  // namespace detail

inline namespace modules {

namespace {
template <class Mode, class Options>
detail::RNNOptionsBase base_of(Mode mode, const Options& o) {
  detail::RNNOptionsBase base(mode, o.input_size(), o.hidden_size());
  base.num_layers(o.num_layers()).bias(o.bias()).batch_first(o.batch_first()).dropout(o.dropout());
  base.bidirectional(o.bidirectional());
  if constexpr (requires { o.proj_size(); }) base.proj_size(o.proj_size());
  return base;
}
detail::RNNOptionsBase::rnn_options_base_mode_t mode_of(const RNNOptions& o) {
  if (std::holds_alternative<enumtype::kReLU>(o.nonlinearity())) return kRNN_RELU;
  return kRNN_TANH;
}
}  // namespace

RNNImpl::RNNImpl(const RNNOptions& o) : RNNImplBase(base_of(mode_of(o), o)), options(o) {}
std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  auto run = [this](const Tensor& x, const Tensor& h) -> std::tuple<Tensor, Tensor> {
    auto [output, state] = run_padded(x, state_of(h));
    return {output, state[0]};
  };
  return hooked(run, input, hx);
}
std::tuple<PackedSequence, Tensor> RNNImpl::forward_with_packed_input(const PackedSequence& packed, Tensor hx) {
  auto [output, state] = run_packed(packed, state_of(hx));
  return {output, state[0]};
}

LSTMImpl::LSTMImpl(const LSTMOptions& o) : RNNImplBase(base_of(kLSTM, o)), options(o) {}
std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward(const Tensor& input,
                                                                 std::optional<std::tuple<Tensor, Tensor>> hx) {
  auto run = [&](const Tensor& x, const Tensor& h, const Tensor& c) -> std::tuple<Tensor, std::tuple<Tensor, Tensor>> {
    auto [output, state] = run_padded(x, state_of(hx ? std::optional(std::tuple(h, c)) : std::nullopt));
    return {output, *pair_of(state)};
  };
  const auto [h0, c0] = hx.value_or(std::tuple<Tensor, Tensor>());
  return hooked(run, input, h0, c0);
}
std::tuple<PackedSequence, std::tuple<Tensor, Tensor>> LSTMImpl::forward_with_packed_input(
    const PackedSequence& packed, std::optional<std::tuple<Tensor, Tensor>> hx) {
  auto [output, state] = run_packed(packed, state_of(hx));
  return {output, *pair_of(state)};
}

GRUImpl::GRUImpl(const GRUOptions& o) : RNNImplBase(base_of(kGRU, o)), options(o) {}
std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  auto run = [this](const Tensor& x, const Tensor& h) -> std::tuple<Tensor, Tensor> {
    auto [output, state] = run_padded(x, state_of(h));
    return {output, state[0]};
  };
  return hooked(run, input, hx);
}
std::tuple<PackedSequence, Tensor> GRUImpl::forward_with_packed_input(const PackedSequence& packed, Tensor hx) {
  auto [output, state] = run_packed(packed, state_of(hx));
  return {output, state[0]};
}

}  // namespace modules
}  // namespace hb::bridge::nn
