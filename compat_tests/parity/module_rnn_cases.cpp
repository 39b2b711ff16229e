#include "parity/modules.h"

namespace nn = torch::nn;
namespace rnn = torch::nn::utils::rnn;

template <class Net>
static void sequence(parity::Case& c, const std::string& label, Net net, const torch::Tensor& x) {
  c.scope(label, [&] {
    c.text("text", parity::text_of(net));
    parity::record_weights(c, "init", net);
    auto [y, state] = net->forward(x);
    c.out("y", y);
    auto inputs = net->parameters();
    inputs.push_back(x);
    if constexpr (std::is_same_v<decltype(state), torch::Tensor>) {
      c.out("h", state);
      c.backward("y", y.sum() + (state * state).sum(), inputs);
    } else {
      c.out("h", std::get<0>(state));
      c.out("c", std::get<1>(state));
      c.backward("y", y.sum() + (std::get<1>(state) * std::get<0>(state).sum()).sum(), inputs);
    }
  });
}

PARITY_CASE(module_rnn, networks) {
  auto x = [&] { return c.leaf({5, 3, 4}); };
  sequence(c, "rnn", nn::RNN(4, 6), x());
  sequence(c, "rnn_relu", nn::RNN(nn::RNNOptions(4, 6).nonlinearity(torch::kReLU).num_layers(2).bias(false)), x());
  sequence(c, "lstm", nn::LSTM(4, 6), x());
  sequence(c, "lstm_two_ways", nn::LSTM(nn::LSTMOptions(4, 6).num_layers(2).bidirectional(true).batch_first(true)),
           x());
  sequence(c, "lstm_projected", nn::LSTM(nn::LSTMOptions(4, 6).proj_size(2)), x());
  sequence(c, "gru", nn::GRU(nn::GRUOptions(4, 6).num_layers(2)), x());
  sequence(c, "gru_two_ways", nn::GRU(nn::GRUOptions(4, 6).bidirectional(true)), x());
  c.throws("width", [&] { nn::GRU(4, 6)->forward(c.randn({5, 3, 5})); });
  c.throws("state", [&] { nn::GRU(4, 6)->forward(x(), c.randn({1, 2, 6})); });
}

PARITY_CASE(module_rnn, given_state) {
  nn::LSTM lstm(nn::LSTMOptions(4, 5).num_layers(2));
  auto x = c.leaf({3, 2, 4}), h = c.leaf({2, 2, 5}), cell = c.leaf({2, 2, 5});
  auto [y, state] = lstm(x, std::make_tuple(h, cell));
  c.out("y", y);
  c.backward("y", y, {x, h, cell});
  nn::GRU gru(4, 5);
  auto h1 = c.leaf({1, 2, 5});
  auto [y2, h2] = gru(x, h1);
  c.out("gru", y2);
  c.backward("gru", h2, {x, h1});
}

PARITY_CASE(module_rnn, cells) {
  auto x = c.leaf({3, 4}), h = c.leaf({3, 5}), cell = c.leaf({3, 5});
  parity::module(c, "rnn", nn::RNNCell(nn::RNNCellOptions(4, 5).nonlinearity(torch::kReLU)), x, h);
  parity::module(c, "gru", nn::GRUCell(4, 5), x, h);
  parity::module(c, "gru_no_bias", nn::GRUCell(nn::GRUCellOptions(4, 5).bias(false)), x);
  nn::LSTMCell lstm(4, 5);
  c.text("text", parity::text_of(lstm));
  auto [h2, c2] = lstm(x, std::make_tuple(h, cell));
  c.out("h", h2);
  c.out("c", c2);
  c.backward("c", (c2 * h2).sum(), {x, h, cell, lstm->weight_ih, lstm->weight_hh, lstm->bias_ih, lstm->bias_hh});
}

PARITY_CASE(module_rnn, packed) {
  auto x = c.leaf({5, 3, 4});
  auto lengths = torch::tensor({2, 5, 3}, torch::kLong);
  auto packed = rnn::pack_padded_sequence(x, lengths, false, false);
  c.out("data", packed.data());
  c.out("sizes", packed.batch_sizes());
  c.out("sorted", packed.sorted_indices());
  c.out("unsorted", packed.unsorted_indices());
  auto [padded, length] = rnn::pad_packed_sequence(packed, true, -1.0, 6);
  c.out("padded", padded);
  c.out("lengths", length);
  nn::LSTM lstm(nn::LSTMOptions(4, 5).bidirectional(true).num_layers(2));
  auto [out, state] = lstm->forward_with_packed_input(packed);
  auto [y, n] = rnn::pad_packed_sequence(out);
  c.out("y", y);
  c.out("h", std::get<0>(state));
  c.out("c", std::get<1>(state));
  auto inputs = lstm->parameters();
  inputs.push_back(x);
  c.backward("y", y.sum() + (std::get<0>(state) * std::get<0>(state)).sum(), inputs);
  std::vector<torch::Tensor> list{c.randn({3, 2}), c.randn({1, 2}), c.randn({2, 2})};
  c.out("pad_sequence", rnn::pad_sequence(list, true, 7));
  c.out("pack_sequence", rnn::pack_sequence(list, false).data());
}

// A layer of an LSTM over sequences of one length is one function with gradients of its own.
PARITY_CASE(module_rnn, lstm_layers) {
  const auto run = [](nn::LSTM lstm, const torch::Tensor& x) { return std::get<0>(lstm(x)); };
  for (auto dtype : {torch::kDouble, torch::kHalf, torch::kBFloat16}) {
    nn::LSTM lstm(nn::LSTMOptions(7, 11).bidirectional(true));
    lstm->to(dtype);
    auto x = c.leaf({4, 3, 7}, dtype);
    auto inputs = lstm->parameters();
    inputs.push_back(x);
    c.scope(parity::dtype_name(dtype), [&] {
      if (dtype == torch::kHalf) c.tolerance(dtype, 3e-3, 3e-3);  // LibTorch rounds between the parts of a step
      c.gradients("y", inputs, [&] { return run(lstm, x); });
    });
  }
  nn::LSTM lstm(nn::LSTMOptions(4, 33).num_layers(2));
  auto x = c.leaf({6, 5, 4});
  c.gradients("one_step", {x}, [&] { return run(lstm, x.slice(0, 0, 1)); });
  c.gradients("one_sequence", {x}, [&] { return run(lstm, x.slice(1, 0, 1)); });
  c.gradients("turned", {x}, [&] { return run(lstm, x.transpose(0, 1)); });
  c.gradients("last_state", {x}, [&] { return std::get<1>(std::get<1>(lstm(x))); });
  for (auto& p : lstm->parameters()) p.requires_grad_(false);
  lstm->named_parameters()["weight_hh_l0"].requires_grad_(true);
  lstm->named_parameters()["bias_hh_l1"].requires_grad_(true);
  c.gradients("frozen", {lstm->named_parameters()["weight_hh_l0"], lstm->named_parameters()["bias_hh_l1"]},
              [&] { return run(lstm, x.detach()); });
  nn::LSTM small(2, 2);
  small->to(torch::kDouble);
  auto y = c.leaf({2, 2, 2}, torch::kDouble);
  c.gradcheck([&] { return run(small, y); }, {y});
}
