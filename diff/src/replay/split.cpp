#include "split.h"

#include <algorithm>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

namespace hb::layer_diff::replay {

namespace {

// A layer whose parameters were trained apart is not to blame for them: it gets the reference's.
Layer with_state_of_ref(const Pair& pair) {
  Layer layer = *pair.test_model.layer;
  if (!pair.own_state && pair.ref_model.layer) layer.state = pair.ref_model.layer->state;
  return layer;
}

Split split_by_test_layer(const Pair& pair) {
  const size_t k = pair.k;
  const Dtype dtype = coarser(pair.ref.dtype, pair.test.dtype);
  const Layer layer = with_state_of_ref(pair);
  const Tensors inputs = shaped_like(pair.ref.inputs, pair.test.inputs);
  const Tensor on_ref = forward(layer, inputs, dtype).at(k);
  Split split;
  split.noise = noise_between(on_ref, forward(layer, inputs, kDouble).at(k), dtype);
  split.added = error_of(on_ref, pair.ref.outputs.at(k));
  split.errors.inherited = error_of(pair.test.outputs.at(k), on_ref).relative();
  split.done = true;
  return split;
}

Split split_by_ref_layer(const Pair& pair) {
  const size_t k = pair.k;
  const Dtype dtype = coarser(pair.ref.dtype, pair.test.dtype);
  const Tensors inputs = shaped_like(pair.test.inputs, pair.ref.inputs);
  const Tensor on_test = forward(*pair.ref_model.layer, inputs, dtype).at(k);
  Split split;
  split.noise = noise_between(on_test, forward(*pair.ref_model.layer, inputs, kDouble).at(k), dtype);
  split.added = error_of(pair.test.outputs.at(k), on_test);
  split.errors.inherited = error_of(on_test, pair.ref.outputs.at(k)).relative();
  split.done = true;
  return split;
}

bool same_inputs(const Pair& pair) {
  if (pair.ref.inputs.size() != pair.test.inputs.size()) return false;
  for (size_t i = 0; i < pair.ref.inputs.size(); ++i) {
    const Tensor &a = pair.test.inputs[i], &b = pair.ref.inputs[i];
    if (a.defined() != b.defined()) return false;
    if (a.defined() && (a.numel() != b.numel() || error_of(a, b).max != 0)) return false;
  }
  return !pair.ref.inputs.empty();
}

// A layer that nobody can run, on equal inputs: all of its error is its own.
Split split_of_equal_inputs(const Pair& pair) {
  Split split;
  const Dtype dtype = coarser(pair.ref.dtype, pair.test.dtype);
  split.added = error_of(pair.test.outputs.at(pair.k), pair.ref.outputs.at(pair.k));
  split.noise = noise_between(pair.ref.outputs.at(pair.k), pair.ref.outputs.at(pair.k), dtype);
  // Nothing is known of how it rounds: room for long sums.
  split.noise.rms *= 64;
  split.noise.max *= 64;
  split.done = true;
  return split;
}

void finish(Split& split) {
  split.explained = split.noise.explains(split.added);
  split.errors.added = split.added.relative();
  split.errors.noise = split.noise.relative();
}

// A function that was given the parameters of the other side's module, as a layer that has them.
State take_operands(const LayerDiff& layer, CallData& function) {
  State state;
  for (auto operand = layer.operands.rbegin(); operand != layer.operands.rend(); ++operand) {
    const auto at = static_cast<size_t>(operand->given->index);
    if (at >= function.inputs.size() || !function.inputs[at].defined()) continue;
    state[operand->state->name] = function.inputs[at];
    function.drop_input(at);
  }
  return state;
}

}  // namespace

Pair make_pair(const Report& report, const LayerDiff& layer, size_t k, bool own_state) {
  Pair pair{load(*report.ref, *layer.ref), load(*report.test, *layer.test), {}, {}, k, own_state};
  State of_ref, of_test;
  if (!layer.operands.empty())
    (layer.ref->has_path ? of_test : of_ref) = take_operands(layer, layer.ref->has_path ? pair.test : pair.ref);
  pair.ref_model = model_of(pair.ref, k, of_ref);
  pair.test_model = model_of(pair.test, k, of_test);
  return pair;
}

Split split_forward(const Pair& pair) {
  Split split;
  const size_t k = pair.k;
  if (k >= pair.ref.outputs.size() || k >= pair.test.outputs.size() || !pair.ref.outputs[k].defined() ||
      !pair.test.outputs[k].defined()) {
    split.problem = "one of the traces does not have its output";
    return split;
  }
  if (pair.ref.outputs[k].numel() != pair.test.outputs[k].numel()) {
    split.problem = "its outputs are not of one size";
    split.other_size = same_inputs(pair);
    return split;
  }
  try {
    if (pair.test_model.reproduces && (pair.own_state || pair.ref_model.layer))
      split = split_by_test_layer(pair);
    else if (pair.ref_model.reproduces)
      split = split_by_ref_layer(pair);
  } catch (const std::exception& error) {
    split.problem = error.what();
  }
  if (!split.done && same_inputs(pair)) split = split_of_equal_inputs(pair);
  if (!split.done && split.problem.empty())
    split.problem = pair.ref_model.problem.empty() ? pair.test_model.problem : pair.ref_model.problem;
  finish(split);
  return split;
}

Gradients expected_gradients(const Pair& pair, Dtype dtype) {
  return backward(*pair.ref_model.layer, shaped_like(pair.test.inputs, pair.ref.inputs), pair.test.grad_outputs, dtype);
}

bool given_otherwise(const Pair& pair) {
  if (!pair.ref.call->has_path || !pair.test.call->has_path || pair.ref.call->type != pair.test.call->type)
    return false;
  const auto is_given = [](const Call& call, size_t i) {
    return std::any_of(call.inputs.begin(), call.inputs.end(),
                       [&](const Record* r) { return r->index == static_cast<int64_t>(i); });
  };
  const size_t count = std::max(pair.ref.inputs.size(), pair.test.inputs.size());
  for (size_t i = 0; i < count; ++i)
    if (is_given(*pair.ref.call, i) != is_given(*pair.test.call, i)) return true;
  return false;
}

Tensor Chosen::of(const Gradients& gradients, const CallData& data) const {
  if (state.empty()) {
    Tensor sum;
    for (size_t i : data.same_as(input))
      if (i < gradients.inputs.size() && gradients.inputs[i].defined())
        sum = sum.defined() ? sum + gradients.inputs[i] : gradients.inputs[i];
    return sum;
  }
  const auto found = gradients.state.find(state);
  return found == gradients.state.end() ? Tensor() : found->second;
}
Tensor Chosen::recorded(const CallData& data) const {
  if (state.empty()) return data.grad_of_same(input);
  for (const Record* record : data.trace->of_module(data.call->root, data.call->path))
    if (record->kind == Kind::parameter_grad && record->step == data.call->step && record->name == state &&
        record->file >= 0)
      return data.trace->load(*record);
  return Tensor();
}

Split split_backward(const Pair& pair, const Chosen& chosen) {
  Split split;
  const Tensor of_ref = chosen.recorded(pair.ref), of_test = chosen.recorded(pair.test);
  if (!of_ref.defined() || !of_test.defined() || pair.ref.grad_outputs.empty() || pair.test.grad_outputs.empty()) {
    split.problem = "one of the traces does not have them";
    return split;
  }
  if (!pair.ref_model.reproduces) {
    split.problem = pair.ref_model.problem;
    return split;
  }
  const Dtype dtype = coarser(pair.ref.dtype, pair.test.dtype);
  try {
    const auto at = [&](const Gradients& gradients) {
      const Tensor gradient = chosen.of(gradients, pair.ref);
      HB_CHECK(gradient.defined(), "[replay] ", chosen.name(), " has no gradient when the layer is run again");
      return gradient;
    };
    const Layer& layer = *pair.ref_model.layer;
    const CallData& ref = pair.ref;
    const Tensor at_ref = at(backward(layer, ref.inputs, ref.grad_outputs, dtype));
    const Noise ref_noise = noise_between(at_ref, at(backward(layer, ref.inputs, ref.grad_outputs, kDouble)), dtype);
    HB_CHECK(ref_noise.explains(error_of(of_ref, at_ref)),
             "[replay] the reference's gradients are not those of its layer run again");
    const Tensor expected = at(expected_gradients(pair, dtype));
    split.noise = noise_between(expected, at(expected_gradients(pair, kDouble)), dtype);
    split.added = error_of(of_test, expected);
    split.errors.inherited = error_of(expected, of_ref).relative();
    split.done = true;
  } catch (const std::exception& error) {
    split.problem = error.what();
  }
  finish(split);
  return split;
}

}  // namespace hb::layer_diff::replay
