// The two calls of a pair as functions that can be run: each with its tensors in memory, and with proof that what is
// run again is what was recorded.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <halfbridge/diff/report.h>

#include "error.h"
#include "layer.h"

namespace hb::layer_diff::replay {

/// Tensors of one call.
struct CallData {
  const Trace* trace = nullptr;
  const Call* call = nullptr;
  Tensors inputs, outputs, grad_inputs, grad_outputs;
  Dtype dtype = kFloat;            // the coarsest of the floating outputs
  std::vector<size_t> first_same;  // of each input: the first input that is the same tensor, often itself
  /// The inputs that are one tensor with input `i`; it alone as a rule.
  std::vector<size_t> same_as(size_t i) const;
  /// The gradient of all inputs that are one tensor with input `i`. Traces hold it at each of them, or at each its
  /// part.
  Tensor grad_of_same(size_t i) const;
  /// Takes input `i` out, with its gradient.
  void drop_input(size_t i);
};
CallData load(const Trace& trace, const Call& call);

/// A layer that was run on the inputs of its call.
struct Model {
  std::optional<Layer> layer;
  bool reproduces = false;  // its outputs are those recorded, up to rounding
  std::string fitted;       // an option that the text did not print and that the outputs show: "approximate=tanh"
  std::string problem;      // why there is no layer, or why it does not reproduce
  Noise noise;              // of the output that is looked at
};
/// Looks at output `k`. Options that `call` does not print are fitted to its outputs. `state`: of a function, the
/// tensors among its arguments that were taken out of `data`.
Model model_of(const CallData& data, size_t k, const State& state = {});

/// The tensors of `from` in the shapes of `like`, where the sizes agree: one side may have flattened them.
Tensors shaped_like(const Tensors& from, const Tensors& like);

}  // namespace hb::layer_diff::replay
