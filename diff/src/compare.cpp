#include <halfbridge/diff/compare.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <halfbridge/error.h>

#include "align.h"
#include "compare_tensors.h"
#include "notes.h"
#include "operands.h"
#include "pairing.h"
#include "refine.h"

namespace hb::layer_diff {
namespace {

std::set<int64_t> steps_of(const Trace& trace) {
  std::set<int64_t> steps;
  for (const Record& record : trace.records()) steps.insert(record.step);
  return steps;
}

// The steps that both have; what one has alone becomes a note.
std::vector<int64_t> common_steps(const Trace& ref, const Trace& test, std::vector<std::string>& notes) {
  const std::set<int64_t> r = steps_of(ref), t = steps_of(test);
  std::vector<int64_t> common, only_ref, only_test;
  std::set_intersection(r.begin(), r.end(), t.begin(), t.end(), std::back_inserter(common));
  std::set_difference(r.begin(), r.end(), t.begin(), t.end(), std::back_inserter(only_ref));
  std::set_difference(t.begin(), t.end(), r.begin(), r.end(), std::back_inserter(only_test));
  const auto note = [&](const std::vector<int64_t>& steps, const char* side) {
    constexpr size_t kMost = 8;
    const std::vector<int64_t> some(steps.begin(), steps.begin() + static_cast<long>(std::min(steps.size(), kMost)));
    if (steps.empty()) return;
    notes.push_back(fmt::format("only the {} recorded step{} {}{}", side, steps.size() == 1 ? "" : "s",
                                fmt::join(some, ", "), steps.size() > kMost ? ", …" : ""));
  };
  note(only_ref, "reference");
  note(only_test, "test");
  return common;
}

// Attaches what was found of a module's states to its first call in the step.
void attach_states(Report& report) {
  std::map<std::tuple<int64_t, std::string, std::string>, LayerDiff*> modules;
  for (LayerDiff& layer : report.layers) {
    const Call* call = layer.ref && layer.ref->has_path ? layer.ref : layer.operands.empty() ? nullptr : layer.test;
    if (call) modules.emplace(std::tuple(layer.step, call->root, call->path), &layer);
  }
  for (const StateDiff& state : report.state) {
    if (state.kind != Kind::parameter && state.kind != Kind::buffer && state.kind != Kind::parameter_grad) continue;
    const auto found = modules.find({state.step, state.root, state.path});
    if (found != modules.end()) found->second->state.push_back(state.tensor);
  }
}

Kind kind_of(const TensorDiff& pair) { return (pair.ref ? pair.ref : pair.test)->kind; }

void judge(LayerDiff& layer) {
  for (const TensorDiff& pair : layer.forward) {
    bool& pass = kind_of(pair) == Kind::input ? layer.inputs_pass : layer.outputs_pass;
    pass = pass && pair.pass();
  }
  for (const TensorDiff& pair : layer.backward) layer.gradients_pass = layer.gradients_pass && pair.pass();
  for (const TensorDiff& pair : layer.state) {
    if (kind_of(pair) == Kind::parameter_grad) layer.gradients_pass = layer.gradients_pass && pair.pass();
  }
}

// When the outputs of a layer were there: after those of the layers within it.
std::tuple<int64_t, int64_t> forward_place(const LayerDiff& layer) {
  return {layer.step, layer.ref->outputs.empty() ? layer.ref->order : layer.ref->outputs.front()->order};
}

// When the backward pass reached a layer, the layers within a container first.
std::tuple<int64_t, bool, int64_t> backward_place(const LayerDiff& layer) {
  int64_t order = std::numeric_limits<int64_t>::max();
  for (const auto* list : {&layer.backward, &layer.state}) {
    for (const TensorDiff& pair : *list) {
      const Kind kind = kind_of(pair);
      const bool is_gradient = kind == Kind::grad_output || kind == Kind::grad_input || kind == Kind::parameter_grad;
      if (is_gradient && pair.ref) order = std::min(order, pair.ref->order);
    }
  }
  // Gradients that the test lacks have no pairs.
  if (layer.ref)
    for (const auto* list : {&layer.ref->grad_outputs, &layer.ref->grad_inputs})
      for (const Record* record : *list) order = std::min(order, record->order);
  return {layer.step, layer.container, order};
}

void find_first(Report& report) {
  for (const LayerDiff& layer : report.layers) {
    const auto& layers = report.layers;
    if (!layer.outputs_pass &&
        (!report.first_forward ||
         forward_place(layer) < forward_place(layers[static_cast<size_t>(*report.first_forward)]))) {
      report.first_forward = layer.id;
    }
    if (!layer.gradients_pass &&
        (!report.first_backward ||
         backward_place(layer) < backward_place(layers[static_cast<size_t>(*report.first_backward)]))) {
      report.first_backward = layer.id;
    }
  }
  for (size_t i = 0; i < report.state.size() && !report.first_state; ++i) {
    if (!report.state[i].tensor.pass()) report.first_state = static_cast<int>(i);
  }
}

std::vector<TensorDiff*> all_pairs(Report& report) {
  std::vector<TensorDiff*> pairs;
  for (LayerDiff& layer : report.layers) {
    for (TensorDiff& pair : layer.forward) pairs.push_back(&pair);
    for (TensorDiff& pair : layer.backward) pairs.push_back(&pair);
  }
  for (StateDiff& state : report.state) pairs.push_back(&state.tensor);
  return pairs;
}

void count(Report& report) {
  for (const TensorDiff* pair : all_pairs(report)) {
    report.compared += pair->compared;
    report.failed += !pair->pass();
    report.statistics += !pair->compared && pair->problem.empty();
  }
  for (const LayerDiff& layer : report.layers) {
    report.only_ref += layer.match == Match::only_ref && !layer.container;
    report.only_test += layer.match == Match::only_test && !layer.container;
  }
}

void note_ends(const Trace& trace, const char* side, std::vector<std::string>& notes) {
  if (trace.end() == "complete") return;
  notes.push_back(trace.end().empty()
                      ? fmt::format("the {}'s trace was not closed: its program may have stopped early", side)
                      : fmt::format("the {}'s trace stopped early: {}", side, trace.end()));
}

void compare_step(Report& report, int64_t step, const Naming& naming, const CompareOptions& options, int64_t& hidden) {
  const Trace& ref = *report.ref;
  const Trace& test = *report.test;
  std::vector<LayerDiff> layers;
  for (const Aligned& row : align(ref, test, step, naming, hidden)) layers.push_back(pair_layer(row, options));
  std::vector<TensorDiff*> pairs;
  for (LayerDiff& layer : layers) {
    for (auto* list : {&layer.forward, &layer.backward}) {
      for (TensorDiff& pair : *list) pairs.push_back(&pair);
    }
  }
  compare_tensors(ref, test, pairs, options.all_histograms);
  refine(ref, test, layers, options);
  std::vector<const LayerDiff*> modules;
  for (LayerDiff& layer : layers) {
    find_operands(ref, test, layer);
    modules.push_back(&layer);
  }
  for (StateDiff& state : pair_states(ref, test, step, naming, modules, options, report.notes)) {
    report.state.push_back(std::move(state));
  }
  std::move(layers.begin(), layers.end(), std::back_inserter(report.layers));
}

}  // namespace

Report compare(std::shared_ptr<const Trace> ref, std::shared_ptr<const Trace> test, const CompareOptions& options) {
  Report report;
  report.ref = std::move(ref);
  report.test = std::move(test);
  const Trace& r = *report.ref;
  const Trace& t = *report.test;
  note_ends(r, "reference", report.notes);
  note_ends(t, "test", report.notes);
  const Naming naming(r, t, options.maps);
  int64_t hidden = 0;
  for (int64_t step : common_steps(r, t, report.notes)) compare_step(report, step, naming, options, hidden);
  for (size_t i = 0; i < report.layers.size(); ++i) report.layers[i].id = static_cast<int>(i);
  std::vector<TensorDiff*> states;
  for (StateDiff& state : report.state) states.push_back(&state.tensor);
  compare_tensors(r, t, states, options.all_histograms);
  attach_states(report);
  for (LayerDiff& layer : report.layers) judge(layer);
  find_first(report);
  count(report);
  add_notes(report, hidden);
  return report;
}

}  // namespace hb::layer_diff
