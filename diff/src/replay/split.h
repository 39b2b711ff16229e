// The error of one pair of calls, split into what comes with its inputs and what it adds.
#pragma once

#include <string>

#include <halfbridge/diff/report.h>

#include "model.h"

namespace hb::layer_diff::replay {

struct Pair {
  CallData ref, test;
  Model ref_model, test_model;
  size_t k = 0;           // the output or gradient that is looked at
  bool own_state = true;  // parameters that differ do so since the start
};

struct Split {
  ErrorSplit errors;
  bool done = false;        // false: `problem` says why
  bool other_size = false;  // its outputs, on the same inputs
  bool explained = false;   // what is added is no more than rounding
  Error added;              // absolute
  Noise noise;
  std::string problem;
};

/// Whether a module is given an input on one side that it is not given on the other: an initial state, a mask.
bool given_otherwise(const Pair& pair);
/// Loads the tensors of both sides and makes the layers. `k` is an output.
Pair make_pair(const Report& report, const LayerDiff& layer, size_t k, bool own_state);
/// Splits output pair.k.
Split split_forward(const Pair& pair);
/// One gradient of a layer: that of an input, or where `state` is given of a parameter.
struct Chosen {
  size_t input = 0;
  std::string state;
  std::string name() const { return state.empty() ? "input " + std::to_string(input) : "`" + state + "`"; }
  /// Undefined where a gradient is missing. Inputs that are one tensor in `data` have one gradient.
  Tensor of(const Gradients& gradients, const CallData& data) const;
  Tensor recorded(const CallData& data) const;
};
/// The reference's layer is differentiated at the test's inputs.
Split split_backward(const Pair& pair, const Chosen& chosen);
/// The gradients that the reference's layer has for the test's inputs and gradients of outputs. Throws hb::Error.
Gradients expected_gradients(const Pair& pair, Dtype dtype);

}  // namespace hb::layer_diff::replay
