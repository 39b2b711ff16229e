// The backward pass of layers whose outputs agree.
#include "explainer.h"

#include <algorithm>

#include <fmt/format.h>

#include "../describe.h"
#include "../hints/causes.h"

namespace hb::layer_diff::replay {

void Explainer::backward_pass(LayerDiff& layer) {
  const bool begins = report_.first_backward == layer.id;
  layer.hints = begins ? hints::causes_of_gradients(report_, layer) : std::vector<Hint>{};
  const auto chosen = failing_gradient(layer);
  const auto k = index_of(layer.forward, Kind::output);
  if (!chosen || !k) {
    layer.verdict = Verdict::inherited;
    layer.verdict_reason = !layer.hints.empty() && layer.hints[0].cause == "detached"
                               ? "the test gives it no gradient"
                               : "only the gradients that it is given differ";
    return;
  }
  try {
    const Pair pair = make_pair(report_, layer, *k, own_state(layer));
    const Split split = split_backward(pair, *chosen);
    if (!split.done) {
      layer.verdict_reason = "the gradients cannot be split: " + split.problem;
      return;
    }
    layer.split = split.errors;
    judge_backward(layer, split);
    if (layer.verdict == Verdict::bug && layer.hints.empty()) layer.hints = hints::causes_of_gradient(pair, *chosen);
  } catch (const std::exception& error) {
    layer.verdict_reason = fmt::format("the gradients cannot be split: {}", error.what());
  }
}

std::optional<Chosen> Explainer::failing_gradient(const LayerDiff& layer) const {
  for (const TensorDiff& diff : layer.backward)
    if (diff.ref && diff.test && diff.ref->kind == Kind::grad_input && !diff.pass())
      return Chosen{static_cast<size_t>(diff.ref->index), {}};
  const auto calls = std::count_if(report_.layers.begin(), report_.layers.end(), [&](const LayerDiff& other) {
    return paired(other) && other.step == layer.step && other.ref->has_path && other.ref->root == layer.ref->root &&
           other.ref->path == layer.ref->path;
  });
  for (const TensorDiff& diff : layer.state)
    if (calls == 1 && diff.ref && diff.test && diff.ref->kind == Kind::parameter_grad && !diff.pass())
      return Chosen{0, diff.ref->name};
  return std::nullopt;
}

void Explainer::judge_backward(LayerDiff& layer, const Split& split) {
  const ErrorSplit& e = split.errors;
  if (split.explained) {
    layer.verdict = Verdict::inherited;
    layer.verdict_reason = fmt::format(
        "its backward pass adds {:.2g}, which rounding explains ({:.2g}); {:.2g} comes with the gradients that it is "
        "given",
        e.added, e.noise, e.inherited);
  } else {
    layer.verdict = Verdict::bug;
    layer.verdict_reason = fmt::format(
        "its outputs agree, but for the same gradients of them it gives gradients that are off by {:.2g}, rounding "
        "explains {:.2g}",
        e.added, e.noise);
  }
}

}  // namespace hb::layer_diff::replay
