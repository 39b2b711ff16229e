// Layers one by one in the order of the forward pass: whether each computes what the reference's does.
#include "explainer.h"

#include <algorithm>

#include <fmt/format.h>

#include "../describe.h"
#include "../hints/causes.h"
#include "../hints/search.h"

namespace hb::layer_diff::replay {

namespace {

// How much more than rounding a layer that passes must add to be blamed for a failure after it.
constexpr double kSilentFactor = 4;

}  // namespace

void Explainer::forward_pass(LayerDiff& layer) {
  const bool all_equal = std::all_of(layer.forward.begin(), layer.forward.end(), is_equal);
  if (layer.outputs_pass && all_equal && !layer.forward.empty()) {
    layer.verdict = Verdict::exact;
    layer.verdict_reason = "inputs and outputs are equal";
    return;
  }
  if (!layer.outputs_pass || options_.all_layers) examine(layer, false);
}

void Explainer::examine(LayerDiff& layer, bool silent) {
  if (std::chrono::steady_clock::now() > deadline_) {
    layer.verdict_reason = "not looked at: the time for explanations was used up";
    return;
  }
  if (!layer.fused.empty()) {
    layer.verdict_reason = "cannot be split: one side does in one call what the other does in several";
    return;
  }
  const auto k = index_of(layer.forward, Kind::output);
  if (!k) {
    layer.verdict_reason = "cannot be split: statistics alone were recorded, or outputs that do not match";
    return;
  }
  try {
    const Pair pair = make_pair(report_, layer, *k, own_state(layer));
    const Split split = split_forward(pair);
    if (!layer.outputs_pass && given_otherwise(pair)) {
      layer.verdict = Verdict::bug;
      layer.verdict_reason = "one side gives it an input that the other does not";
      if (!culprit_) culprit_ = layer.id;
    } else {
      if (split.done) layer.split = split.errors;
      judge(layer, split, silent);
    }
    find_hints(layer, pair);
  } catch (const std::exception& error) {
    layer.verdict_reason = fmt::format("cannot be split: {}", error.what());
  }
}

void Explainer::judge(LayerDiff& layer, const Split& split, bool silent) {
  if (!split.done && split.other_size) {
    layer.verdict = Verdict::bug;
    layer.verdict_reason = "on the same inputs its output has another size";
    if (!culprit_) culprit_ = layer.id;
    return;
  }
  if (!split.done) {
    layer.verdict_reason = "cannot be split: " + split.problem;
    return;
  }
  const ErrorSplit& e = split.errors;
  if (!split.explained) {
    const double times = std::max(split.added.rms / split.noise.rms, split.added.max / split.noise.max);
    if (layer.outputs_pass && (!silent || !(times > kSilentFactor))) {
      layer.verdict_reason =
          fmt::format("within tolerance; adds {:.2g} of its output, rounding explains {:.2g}", e.added, e.noise);
      return;
    }
    layer.verdict = Verdict::bug;
    layer.verdict_reason = fmt::format(
        "on the same inputs it is off by {:.2g} of its output (largest {:.2g}), rounding explains {:.2g}{}", e.added,
        split.added.max, e.noise, layer.outputs_pass ? "; it is within tolerance, layers after it are not" : "");
    if (!culprit_) culprit_ = layer.id;
    return;
  }
  if (layer.outputs_pass) {
    layer.verdict = Verdict::rounding;
    layer.verdict_reason = fmt::format("adds {:.2g} of its output, rounding explains {:.2g}", e.added, e.noise);
    return;
  }
  inherited_or_rounding(layer, e);
}

void Explainer::inherited_or_rounding(LayerDiff& layer, const ErrorSplit& e) {
  if (!culprit_) search_passing(layer.id);
  const std::string own =
      fmt::format("adds {:.2g} of its output, which rounding explains ({:.2g}); {:.2g} comes with its inputs", e.added,
                  e.noise, e.inherited);
  if (culprit_) {
    layer.verdict = Verdict::inherited;
    layer.verdict_reason = own + ", first from " + layer_name(at(*culprit_), false);
  } else if (const LayerDiff* source = first_foreign_inputs(layer.id)) {
    layer.verdict = Verdict::inherited;
    layer.verdict_reason = own + (source == &layer ? ", which differ though every layer before it agrees"
                                                   : ", first from the inputs of " + layer_name(*source, false));
  } else if (const StateDiff* update = other_update_before(layer.step)) {
    layer.verdict = Verdict::inherited;
    layer.verdict_reason = fmt::format("{}; step {} of the optimizer left other parameters", own, update->step);
  } else {
    layer.verdict = Verdict::rounding;
    layer.verdict_reason = own + ", grown from rounding: no layer before it adds more";
  }
}

const StateDiff* Explainer::other_update_before(int64_t step) const {
  for (const StateDiff& state : report_.state)
    if (state.step < step && state.kind == Kind::updated_parameter && !state.tensor.pass()) return &state;
  return nullptr;
}

void Explainer::search_passing(int before) {
  if (searched_passing_) return;
  searched_passing_ = true;
  for (int id = 0; id < before && !culprit_; ++id) {
    LayerDiff& layer = at(id);
    if (!paired(layer) || is_container(layer) || !layer.outputs_pass || layer.verdict == Verdict::exact) continue;
    examine(layer, true);
  }
}

void Explainer::find_hints(LayerDiff& layer, const Pair& pair) {
  if (layer.verdict != Verdict::bug || !pair.ref_model.layer || with_hints_ >= options_.max_layers_with_hints) return;
  ++with_hints_;
  hints::Search search(pair.ref, pair.test, pair.ref_model, pair.test_model, pair.k, pair.own_state,
                       options_.seconds_per_layer);
  layer.hints = hints::find_causes(search);
}

}  // namespace hb::layer_diff::replay
