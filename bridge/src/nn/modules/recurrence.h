#pragma once
// Running a stack of recurrent layers.

#include <functional>

#include <halfbridge/bridge/nn/rnn.h>

namespace hb::bridge::nn::recurrence {

using State = detail::RecurrentState;

/// The weights of one layer in one direction; what there is not is undefined.
struct Weights {
  Tensor ih, hh, b_ih, b_hh, hr;
};
using WeightsOf = std::function<Weights(int64_t layer, bool reverse)>;

/// input (rows, features), of which batch_sizes[t] rows belong to step t, more or as many as to the next; or
/// (T, B, features), (B, T, features) with options.batch_first(), and no batch_sizes. initial: one tensor
/// (layers * directions, B, hidden) for each part of the state. Gives the output, laid out as the input, with
/// directions * hidden features, and the last states.
std::pair<Tensor, State> run(const detail::RNNOptionsBase& options, const WeightsOf& weights, bool training,
                             const Tensor& input, const std::vector<int64_t>& batch_sizes, const State& initial);

}  // namespace hb::bridge::nn::recurrence
