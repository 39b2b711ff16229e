#pragma once
// Recurrent networks over sequences, and their single steps.

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <halfbridge/bridge/nn/cloneable.h>
#include <halfbridge/bridge/nn/rnn_options.h>
#include <halfbridge/bridge/nn/utils.h>

namespace hb::bridge::nn {
namespace detail {

// {h} or {h, c}.
using RecurrentState = std::vector<Tensor>;

/// What the layers share. The weights of layer k are weight_ih_lk, weight_hh_lk, bias_ih_lk, bias_hh_lk and
/// weight_hr_lk; those of the backward direction end in _reverse. Defined in the library for the three networks.
template <typename Derived>
class HB_API RNNImplBase : public Cloneable<Derived> {
 public:
  explicit RNNImplBase(const RNNOptionsBase& options_) : options_base(options_) { RNNImplBase::reset(); }
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  /// Nothing to do: the weights are used where they are.
  void flatten_parameters() {}
  std::vector<Tensor> all_weights() const { return this->parameters(/*recurse=*/false); }

  RNNOptionsBase options_base;

 protected:
  // input (T, B, …); the initial state may be empty, or (layers * directions, B, hidden) each.
  std::pair<Tensor, RecurrentState> run_padded(const Tensor& input, const RecurrentState& initial) const;
  std::pair<utils::rnn::PackedSequence, RecurrentState> run_packed(const utils::rnn::PackedSequence& input,
                                                                   RecurrentState initial) const;
};

/// What the single steps share.
template <typename Derived>
class HB_API RNNCellImplBase : public Cloneable<Derived> {
 public:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options_) : options_base(options_) { RNNCellImplBase::reset(); }
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  RNNCellOptionsBase options_base;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  Tensor checked_state(const Tensor& input, const Tensor& given, const char* label = "hidden0") const;
  virtual std::string get_nonlinearity_str() const { return ""; }
};

}  // namespace detail

inline namespace modules {

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it: (output (T, B, directions * hidden), h_n).
class HB_API RNNImpl : public detail::RNNImplBase<RNNImpl> {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  RNNOptions options;

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
};
HB_LIBRARY_MODULE(RNN);

/// Long short-term memory: (output, (h_n, c_n)).
class HB_API LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  LSTMImpl(int64_t input_size, int64_t hidden_size) : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& options_);
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(const Tensor& input,
                                                         std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
  std::tuple<utils::rnn::PackedSequence, std::tuple<Tensor, Tensor>> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});

  LSTMOptions options;

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
};
HB_LIBRARY_MODULE(LSTM);

/// Gated recurrent unit: (output, h_n).
class HB_API GRUImpl : public detail::RNNImplBase<GRUImpl> {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  GRUOptions options;

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
};
HB_LIBRARY_MODULE(GRU);

/// One step: input (B, input_size), state (B, hidden_size).
class HB_API RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl> {
 public:
  RNNCellImpl(int64_t input_size, int64_t hidden_size) : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& options_);
  Tensor forward(const Tensor& input, const Tensor& hx = {});

  RNNCellOptions options;

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
  std::string get_nonlinearity_str() const override;
};
HB_LIBRARY_MODULE(RNNCell);

class HB_API LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  LSTMCellImpl(int64_t input_size, int64_t hidden_size) : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});

  LSTMCellOptions options;

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
};
HB_LIBRARY_MODULE(LSTMCell);

class HB_API GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size) : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& options_);
  Tensor forward(const Tensor& input, const Tensor& hx = {});

  GRUCellOptions options;

 protected:
  HB_LIBRARY_DEFAULT_ARGS;
};
HB_LIBRARY_MODULE(GRUCell);

}  // namespace modules
}  // namespace hb::bridge::nn
