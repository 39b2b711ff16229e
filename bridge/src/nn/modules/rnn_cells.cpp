#include <cmath>
#include <ostream>

#include <halfbridge/bridge/nn/init.h>
#include <halfbridge/bridge/nn/rnn.h>

namespace hb::bridge::nn {
namespace detail {

template <typename Derived>
void RNNCellImplBase<Derived>::reset() {
  const int64_t rows = options_base.num_chunks() * options_base.hidden_size();
  weight_ih = this->register_parameter("weight_ih", hb::empty({rows, options_base.input_size()}));
  weight_hh = this->register_parameter("weight_hh", hb::empty({rows, options_base.hidden_size()}));
  const bool bias = options_base.bias();
  bias_ih = this->register_parameter("bias_ih", bias ? hb::empty({rows}) : Tensor(), bias);
  bias_hh = this->register_parameter("bias_hh", bias ? hb::empty({rows}) : Tensor(), bias);
  reset_parameters();
}

template <typename Derived>
void RNNCellImplBase<Derived>::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (auto& weight : this->parameters()) init::uniform_(weight, -bound, bound);
}

template <typename Derived>
void RNNCellImplBase<Derived>::pretty_print(std::ostream& stream) const {
  stream << this->name().substr(0, this->name().size() - 4) << "(" << options_base.input_size() << ", "
         << options_base.hidden_size();
  if (!options_base.bias()) stream << ", bias=" << std::boolalpha << false;
  const std::string nonlinearity = get_nonlinearity_str();
  if (!nonlinearity.empty() && nonlinearity != "kTanh") stream << ", nonlinearity=" << nonlinearity;
  stream << ")";
}

// The state given, or zeros.
template <typename Derived>
Tensor RNNCellImplBase<Derived>::checked_state(const Tensor& input, const Tensor& given, const char* label) const {
  HB_CHECK(input.dim() == 1 || input.dim() == 2, this->name(), ": Expected input to be 1D or 2D, got ", input.dim(),
           "D instead");
  HB_CHECK(input.size(-1) == options_base.input_size(), "input has inconsistent input_size: got ", input.size(-1),
           " expected ", options_base.input_size());
  auto expected = input.sizes().vec();
  expected.back() = options_base.hidden_size();
  if (!given.defined()) return hb::zeros(expected, input.options());
  HB_CHECK(given.dim() != input.dim() || input.dim() == 1 || given.size(0) == input.size(0), "Input batch size ",
           input.size(0), " doesn't match ", label, " batch size ", given.size(0));
  HB_CHECK(given.dim() == 0 || given.size(-1) == expected.back(), label, " has inconsistent hidden_size: got ",
           given.size(-1), ", expected ", expected.back());
  HB_CHECK(given.sizes() == expected, "Expected a state of shape ", IntArrayRef(expected), ", got ", given.sizes());
  return given;
}

template class RNNCellImplBase<RNNCellImpl>;
template class RNNCellImplBase<LSTMCellImpl>;
template class RNNCellImplBase<GRUCellImpl>;

}  // namespace detail

inline namespace modules {

namespace {
// Cells take batches; one input is a batch of one.
Tensor batched(const Tensor& t, bool single) { return single ? t.unsqueeze(0) : t; }
Tensor unbatched(const Tensor& t, bool single) { return single ? t.squeeze(0) : t; }
}  // namespace

RNNCellImpl::RNNCellImpl(const RNNCellOptions& o)
    : RNNCellImplBase(detail::RNNCellOptionsBase(o.input_size(), o.hidden_size(), o.bias(), 1)), options(o) {}
std::string RNNCellImpl::get_nonlinearity_str() const { return enumtype::get_enum_name(options.nonlinearity()); }
Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx) {
  auto run = [this](const Tensor& x, const Tensor& given) {
    const bool single = x.dim() == 1;
    Tensor h = batched(checked_state(x, given), single), in = batched(x, single);
    auto cell =
        std::holds_alternative<enumtype::kTanh>(options.nonlinearity()) ? &hb::rnn_tanh_cell : &hb::rnn_relu_cell;
    return unbatched(cell(in, h, weight_ih, weight_hh, bias_ih, bias_hh), single);
  };
  return hooked(run, input, hx);
}

LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& o)
    : RNNCellImplBase(detail::RNNCellOptionsBase(o.input_size(), o.hidden_size(), o.bias(), 4)), options(o) {}
std::tuple<Tensor, Tensor> LSTMCellImpl::forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx) {
  auto run = [this](const Tensor& x, const Tensor& h0, const Tensor& c0) -> std::tuple<Tensor, Tensor> {
    const bool single = x.dim() == 1;
    Tensor h = batched(checked_state(x, h0), single);
    Tensor c = batched(checked_state(x, c0, "hidden1"), single);
    auto [next_h, next_c] = hb::lstm_cell(batched(x, single), {h, c}, weight_ih, weight_hh, bias_ih, bias_hh);
    return {unbatched(next_h, single), unbatched(next_c, single)};
  };
  const auto [h0, c0] = hx.value_or(std::tuple<Tensor, Tensor>());
  return hooked(run, input, h0, c0);
}

GRUCellImpl::GRUCellImpl(const GRUCellOptions& o)
    : RNNCellImplBase(detail::RNNCellOptionsBase(o.input_size(), o.hidden_size(), o.bias(), 3)), options(o) {}
Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx) {
  auto run = [this](const Tensor& x, const Tensor& given) {
    const bool single = x.dim() == 1;
    Tensor h = batched(checked_state(x, given), single);
    return unbatched(hb::gru_cell(batched(x, single), h, weight_ih, weight_hh, bias_ih, bias_hh), single);
  };
  return hooked(run, input, hx);
}

}  // namespace modules
}  // namespace hb::bridge::nn
