#pragma once

#include <variant>

#include <halfbridge/bridge/arg.h>
#include <halfbridge/bridge/enum.h>
#include <halfbridge/macros.h>

namespace hb::bridge::nn {
namespace detail {
struct HB_API RNNOptionsBase {
  using rnn_options_base_mode_t =
      std::variant<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH, enumtype::kRNN_RELU>;
  RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input_size, int64_t hidden_size)
      : mode_(mode), input_size_(input_size), hidden_size_(hidden_size) {}
  HB_ARG(rnn_options_base_mode_t, mode);
  HB_ARG(int64_t, input_size);
  HB_ARG(int64_t, hidden_size);
  HB_ARG(int64_t, num_layers) = 1;
  HB_ARG(bool, bias) = true;
  HB_ARG(bool, batch_first) = false;
  HB_ARG(double, dropout) = 0.0;
  HB_ARG(bool, bidirectional) = false;
  HB_ARG(int64_t, proj_size) = 0;
};
struct HB_API RNNCellOptionsBase {
  RNNCellOptionsBase(int64_t input_size, int64_t hidden_size, bool bias, int64_t num_chunks)
      : input_size_(input_size), hidden_size_(hidden_size), bias_(bias), num_chunks_(num_chunks) {}
  HB_ARG(int64_t, input_size);
  HB_ARG(int64_t, hidden_size);
  HB_ARG(bool, bias);
  HB_ARG(int64_t, num_chunks);
};
}  // namespace detail

inline namespace modules {

struct HB_API RNNOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  RNNOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  HB_ARG(int64_t, input_size);
  HB_ARG(int64_t, hidden_size);
  HB_ARG(int64_t, num_layers) = 1;
  HB_ARG(nonlinearity_t, nonlinearity) = kTanh;
  HB_ARG(bool, bias) = true;
  /// Input and output are (B, T, …) rather than (T, B, …).
  HB_ARG(bool, batch_first) = false;
  HB_ARG(double, dropout) = 0.0;
  HB_ARG(bool, bidirectional) = false;
};
struct HB_API LSTMOptions {
  LSTMOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  HB_ARG(int64_t, input_size);
  HB_ARG(int64_t, hidden_size);
  HB_ARG(int64_t, num_layers) = 1;
  HB_ARG(bool, bias) = true;
  HB_ARG(bool, batch_first) = false;
  HB_ARG(double, dropout) = 0.0;
  HB_ARG(bool, bidirectional) = false;
  /// Hidden states are multiplied down to this size (0: they are not).
  HB_ARG(int64_t, proj_size) = 0;
};
struct HB_API GRUOptions {
  GRUOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  HB_ARG(int64_t, input_size);
  HB_ARG(int64_t, hidden_size);
  HB_ARG(int64_t, num_layers) = 1;
  HB_ARG(bool, bias) = true;
  HB_ARG(bool, batch_first) = false;
  HB_ARG(double, dropout) = 0.0;
  HB_ARG(bool, bidirectional) = false;
};
struct HB_API RNNCellOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  RNNCellOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  HB_ARG(int64_t, input_size);
  HB_ARG(int64_t, hidden_size);
  HB_ARG(bool, bias) = true;
  HB_ARG(nonlinearity_t, nonlinearity) = kTanh;
};
struct HB_API LSTMCellOptions {
  LSTMCellOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  HB_ARG(int64_t, input_size);
  HB_ARG(int64_t, hidden_size);
  HB_ARG(bool, bias) = true;
};
struct HB_API GRUCellOptions {
  GRUCellOptions(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  HB_ARG(int64_t, input_size);
  HB_ARG(int64_t, hidden_size);
  HB_ARG(bool, bias) = true;
};

}  // namespace modules
}  // namespace hb::bridge::nn
