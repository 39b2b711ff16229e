#pragma once
// Recurrent networks as one call of the device, with its gradients.

#include <functional>
#include <optional>

#include <halfbridge/tensor.h>

#include "autograd/names.h"
#include "backend/rnn.h"

namespace hb::ops {

/// Whether networks on this device may be one call: CUDA's by cuDNN, unless the program turned cuDNN off.
bool has_rnn(const Device& device);

/// The results from the inputs, by public functions, in the orders of rnn() below.
using RnnFormula = std::function<variable_list(const variable_list& inputs)>;

/// inputs: x (rows, features), or (B, T, features) with net.batch_first; h, of an LSTM c; the weights in RnnPlan's
/// order; all of one floating dtype and device, none empty. batch_sizes: of each step. Gives y, the last h and, of an
/// LSTM, the last c; nothing where the device has no such network. `formula` is what gradients of gradients are made
/// of.
std::optional<variable_list> rnn(RnnNetwork net, const variable_list& inputs, const std::vector<int64_t>& batch_sizes,
                                 RnnFormula formula);

}  // namespace hb::ops
