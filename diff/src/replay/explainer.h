// Looks through a report for the layer to blame: every layer is run again and judged, then causes are looked for.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <halfbridge/diff/explain.h>

#include "split.h"

namespace hb::layer_diff::replay {

inline bool paired(const LayerDiff& layer) { return layer.ref && layer.test; }
/// Made of layers that are in the trace themselves.
inline bool is_container(const LayerDiff& layer) { return layer.container && !can_replay(layer.ref->type); }
inline bool is_equal(const TensorDiff& diff) {
  return diff.problem.empty() && diff.compared && diff.metrics.max_abs == 0;
}
/// Index of the first failing tensor of a kind, else of the first that was compared.
std::optional<size_t> index_of(const std::vector<TensorDiff>& diffs, Kind kind);

class Explainer {
 public:
  Explainer(Report& report, const ExplainOptions& options)
      : report_(report),
        options_(options),
        deadline_(std::chrono::steady_clock::now() +
                  std::chrono::milliseconds(static_cast<int64_t>(1000 * options.seconds))) {}

  void run();

 private:
  Report& report_;
  const ExplainOptions& options_;
  const std::chrono::steady_clock::time_point deadline_;
  std::map<std::string, bool> first_state_equal_;  // by root and path: state agrees where it is first recorded
  std::optional<int> culprit_;                     // the first layer to blame
  bool searched_passing_ = false;
  int with_hints_ = 0;

  LayerDiff& at(int id) { return report_.layers[static_cast<size_t>(id)]; }
  void note_first_states();
  bool own_state(const LayerDiff& layer) const;

  // explain_layers.cpp
  void forward_pass(LayerDiff& layer);
  /// Splits a layer and judges it. `silent`: it passes, and something after it fails.
  void examine(LayerDiff& layer, bool silent);
  void judge(LayerDiff& layer, const Split& split, bool silent);
  void inherited_or_rounding(LayerDiff& layer, const ErrorSplit& e);
  /// A parameter that an earlier step updated otherwise, beyond the tolerance.
  const StateDiff* other_update_before(int64_t step) const;
  /// Layers that pass may be where a failure begins.
  void search_passing(int before);
  void find_hints(LayerDiff& layer, const Pair& pair);

  // explain_gradients.cpp
  void backward_pass(LayerDiff& layer);
  /// That of an input, else of a parameter; a parameter's only where the step calls its module once.
  std::optional<Chosen> failing_gradient(const LayerDiff& layer) const;
  void judge_backward(LayerDiff& layer, const Split& split);

  // explain.cpp
  /// Its layers are judged one by one; what is left is what it does between them.
  void container(LayerDiff& layer);
  bool is_within(const LayerDiff& inner, const LayerDiff& outer) const;
  const Call* call_of(int64_t id) const;
  /// The first layer whose inputs differ while no output before it does: they differ by what no layer computed.
  const LayerDiff* first_foreign_inputs(int up_to) const;
  void given_inputs();
  /// The first layer whose output has a coarser dtype in the test: its rounding, and what grows from it, is not a bug.
  LayerDiff* first_coarser(int up_to);
  /// The layer to blame; where there is none, the first that fails and does not hold others that fail.
  void set_first();
};

}  // namespace hb::layer_diff::replay
