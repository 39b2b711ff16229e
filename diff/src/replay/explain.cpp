#include <halfbridge/diff/explain.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include <halfbridge/error.h>

#include "../hints/causes.h"
#include "../hints/search.h"
#include "split.h"

namespace hb::layer_diff {

namespace {

using replay::Pair;
using replay::Split;

// How much more than rounding a layer that passes must add to be blamed for a failure after it.
constexpr double kSilentFactor = 4;

bool paired(const LayerDiff& layer) { return layer.ref && layer.test; }
// Made of layers that are in the trace themselves.
bool is_container(const LayerDiff& layer) { return layer.container && !can_replay(layer.ref->type); }
std::string title(const LayerDiff& layer) {
  const Call& call = *layer.ref;
  if (!call.has_path) return call.type;
  return call.path.empty() ? call.root : call.path;
}
bool is_equal(const TensorDiff& diff) { return diff.problem.empty() && diff.compared && diff.metrics.max_abs == 0; }

// Index of the first failing tensor of a kind, else of the first that was compared.
std::optional<size_t> index_of(const std::vector<TensorDiff>& diffs, Kind kind) {
  std::optional<size_t> first;
  for (const TensorDiff& diff : diffs) {
    if (!diff.ref || !diff.test || diff.ref->kind != kind || diff.ref->file < 0 || diff.test->file < 0) continue;
    if (!diff.pass()) return static_cast<size_t>(diff.ref->index);
    if (!first) first = static_cast<size_t>(diff.ref->index);
  }
  return first;
}

class Explainer {
 public:
  Explainer(Report& report, const ExplainOptions& options)
      : report_(report),
        options_(options),
        deadline_(std::chrono::steady_clock::now() +
                  std::chrono::milliseconds(static_cast<int64_t>(1000 * options.seconds))) {}

  void run() {
    note_first_states();
    for (LayerDiff& layer : report_.layers)
      if (paired(layer) && !is_container(layer)) forward_pass(layer);
    for (LayerDiff& layer : report_.layers)
      if (paired(layer) && is_container(layer)) container(layer);
    for (auto layer = report_.layers.rbegin(); layer != report_.layers.rend(); ++layer)
      if (paired(*layer) && !is_container(*layer) && !layer->gradients_pass && layer->outputs_pass)
        backward_pass(*layer);
    given_inputs();
    set_first();
  }

 private:
  Report& report_;
  const ExplainOptions& options_;
  const std::chrono::steady_clock::time_point deadline_;
  std::map<std::string, bool> first_state_equal_;  // by root and path: state agrees where it is first recorded
  std::optional<int> culprit_;                     // the first layer to blame
  bool searched_passing_ = false;
  int with_hints_ = 0;

  void note_first_states() {
    for (const LayerDiff& layer : report_.layers) {
      if (!paired(layer) || !layer.ref->has_path || layer.state.empty()) continue;
      const bool equal = std::all_of(layer.state.begin(), layer.state.end(), [](const TensorDiff& diff) {
        const Kind kind = (diff.ref ? diff.ref : diff.test)->kind;
        return (kind != Kind::parameter && kind != Kind::buffer) || is_equal(diff);
      });
      first_state_equal_.emplace(layer.ref->root + "/" + layer.ref->path, equal);
    }
  }
  bool own_state(const LayerDiff& layer) const {
    const auto found = first_state_equal_.find(layer.ref->root + "/" + layer.ref->path);
    return found == first_state_equal_.end() || !found->second;
  }

  void forward_pass(LayerDiff& layer) {
    const bool all_equal = std::all_of(layer.forward.begin(), layer.forward.end(), is_equal);
    if (layer.outputs_pass && all_equal && !layer.forward.empty()) {
      layer.verdict = Verdict::exact;
      layer.verdict_reason = "inputs and outputs are equal";
      return;
    }
    if (!layer.outputs_pass || options_.all_layers) examine(layer, false);
  }

  // Splits a layer and judges it. `silent`: it passes, and something after it fails.
  void examine(LayerDiff& layer, bool silent) {
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
      const Pair pair = replay::make_pair(report_, layer, *k, own_state(layer));
      const Split split = replay::split_forward(pair);
      if (split.done) layer.split = split.errors;
      judge(layer, split, silent);
      find_hints(layer, pair);
    } catch (const std::exception& error) {
      layer.verdict_reason = fmt::format("cannot be split: {}", error.what());
    }
  }

  void judge(LayerDiff& layer, const Split& split, bool silent) {
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

  void inherited_or_rounding(LayerDiff& layer, const ErrorSplit& e) {
    if (!culprit_) search_passing(layer.id);
    const std::string own =
        fmt::format("adds {:.2g} of its output, which rounding explains ({:.2g}); {:.2g} comes with its inputs",
                    e.added, e.noise, e.inherited);
    if (culprit_) {
      layer.verdict = Verdict::inherited;
      layer.verdict_reason = own + ", first from " + title(at(*culprit_));
    } else if (const LayerDiff* source = first_foreign_inputs(layer.id)) {
      layer.verdict = Verdict::inherited;
      layer.verdict_reason = own + (source == &layer ? ", which differ though every layer before it agrees"
                                                     : ", first from the inputs of " + title(*source));
    } else {
      layer.verdict = Verdict::rounding;
      layer.verdict_reason = own + ", grown from rounding: no layer before it adds more";
    }
  }

  // Layers that pass may be where a failure begins.
  void search_passing(int before) {
    if (searched_passing_) return;
    searched_passing_ = true;
    for (int id = 0; id < before && !culprit_; ++id) {
      LayerDiff& layer = at(id);
      if (!paired(layer) || is_container(layer) || !layer.outputs_pass || layer.verdict == Verdict::exact) continue;
      examine(layer, true);
    }
  }

  LayerDiff& at(int id) { return report_.layers[static_cast<size_t>(id)]; }

  void find_hints(LayerDiff& layer, const Pair& pair) {
    if (layer.verdict != Verdict::bug || !pair.ref_model.layer || with_hints_ >= options_.max_layers_with_hints) return;
    ++with_hints_;
    hints::Search search(pair.ref, pair.test, pair.ref_model, pair.test_model, pair.k, pair.own_state,
                         options_.seconds_per_layer);
    layer.hints = hints::find_causes(search);
  }

  // Its layers are judged one by one; what is left is what it does between them.
  void container(LayerDiff& layer) {
    if (layer.outputs_pass) return;
    const LayerDiff* first = nullptr;
    for (const LayerDiff& other : report_.layers)
      if (paired(other) && !is_container(other) && is_within(other, layer) && !other.outputs_pass && !first)
        first = &other;
    if (first) {
      layer.verdict = first->verdict == Verdict::rounding ? Verdict::rounding : Verdict::inherited;
      layer.verdict_reason = "made of layers: see " + title(*first);
    } else if (layer.inputs_pass) {
      layer.verdict = Verdict::bug;
      layer.verdict_reason = "its inputs and all layers in it agree: what it does between them or after them differs";
      if (!culprit_) culprit_ = layer.id;
    }
  }

  bool is_within(const LayerDiff& inner, const LayerDiff& outer) const {
    if (inner.step != outer.step) return false;
    const Call* call = inner.ref;
    for (int depth = 0; call && call->parent && depth < 256; ++depth) {
      if (*call->parent == outer.ref->id) return true;
      call = call_of(*call->parent);
    }
    return false;
  }
  const Call* call_of(int64_t id) const {
    const auto& calls = report_.ref->calls();
    const auto found = std::find_if(calls.begin(), calls.end(), [&](const Call& c) { return c.id == id; });
    return found == calls.end() ? nullptr : &*found;
  }

  // The first layer whose inputs differ while no output before it does: they differ by what no layer computed.
  const LayerDiff* first_foreign_inputs(int up_to) const {
    for (int id = 0; id <= up_to; ++id) {
      const LayerDiff& layer = report_.layers[static_cast<size_t>(id)];
      if (!paired(layer)) continue;
      if (!layer.inputs_pass) return &layer;
      if (!is_container(layer) && !layer.outputs_pass) return nullptr;
    }
    return nullptr;
  }

  void given_inputs() {
    const LayerDiff* source = first_foreign_inputs(static_cast<int>(report_.layers.size()) - 1);
    if (!source) return;
    // The innermost call that is given the same: the outer ones pass it on.
    LayerDiff& layer = at(source->id);
    if (!layer.hints.empty()) return;
    layer.hints = hints::causes_of_inputs(report_, layer);
    if (layer.verdict == Verdict::none && !layer.outputs_pass) {
      layer.verdict = Verdict::inherited;
      layer.verdict_reason = "its inputs differ though every layer before it agrees";
    }
    for (LayerDiff& other : report_.layers)
      if (&other != &layer && paired(other) && other.id > layer.id && !other.inputs_pass && other.hints.empty() &&
          report_.first_forward == other.id)
        other.hints = layer.hints;
  }

  void backward_pass(LayerDiff& layer) {
    const bool begins = report_.first_backward == layer.id;
    layer.hints = begins ? hints::causes_of_gradients(report_, layer) : std::vector<Hint>{};
    const auto chosen = failing_gradient(layer);
    const auto k = index_of(layer.forward, Kind::output);
    if (!chosen || !k) {
      layer.verdict = Verdict::inherited;
      layer.verdict_reason = "only the gradients that it is given differ";
      return;
    }
    try {
      const Pair pair = replay::make_pair(report_, layer, *k, own_state(layer));
      const Split split = replay::split_backward(pair, *chosen);
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

  // That of an input, else of a parameter; a parameter's only where the step calls its module once.
  std::optional<replay::Chosen> failing_gradient(const LayerDiff& layer) const {
    for (const TensorDiff& diff : layer.backward)
      if (diff.ref && diff.test && diff.ref->kind == Kind::grad_input && !diff.pass())
        return replay::Chosen{static_cast<size_t>(diff.ref->index), {}};
    const auto calls = std::count_if(report_.layers.begin(), report_.layers.end(), [&](const LayerDiff& other) {
      return paired(other) && other.step == layer.step && other.ref->has_path && other.ref->root == layer.ref->root &&
             other.ref->path == layer.ref->path;
    });
    for (const TensorDiff& diff : layer.state)
      if (calls == 1 && diff.ref && diff.test && diff.ref->kind == Kind::parameter_grad && !diff.pass())
        return replay::Chosen{0, diff.ref->name};
    return std::nullopt;
  }

  void judge_backward(LayerDiff& layer, const Split& split) {
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

  // The layer to blame, or where none is the first that fails and is no container of others that fail.
  void set_first() {
    if (!report_.first_forward) return;
    if (culprit_) {
      report_.first_forward = *culprit_;
      return;
    }
    const LayerDiff& first = at(*report_.first_forward);
    if (!paired(first) || !is_container(first)) return;
    for (const LayerDiff& layer : report_.layers)
      if (paired(layer) && !is_container(layer) && !layer.outputs_pass) {
        report_.first_forward = layer.id;
        return;
      }
  }
};

}  // namespace

bool can_replay(const std::string& type) { return replay::find_declaration(type) != nullptr; }

void explain(Report& report, const ExplainOptions& options) {
  if (!report.ref || !report.test) throw Error("[explain] expected a report with both traces");
  Explainer(report, options).run();
  hints::explain_states(report);
}

}  // namespace hb::layer_diff
