#pragma once

#include <array>

#include <halfbridge/tensor.h>

namespace hb::ops {

/// Weights as torch::nn::LSTM has them: (4 hidden, features), (4 hidden, hidden) and two biases, or none.
struct LstmWeights {
  Tensor ih, hh, b_ih, b_hh;
};

/// A layer of an LSTM in one direction, as one node of the graph whose gradients by weights are one product each.
/// input (steps * batch, features), h and c (batch, hidden); none is empty, all of one floating dtype. Gives the hidden
/// states (steps * batch, hidden) and the last h and c.
std::array<Tensor, 3> lstm_layer(const Tensor& input, const Tensor& h, const Tensor& c, const LstmWeights& w,
                                 int64_t steps, bool reverse);

}  // namespace hb::ops
