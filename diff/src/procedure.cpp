#include <halfbridge/diff/procedure.h>

#include <algorithm>

#include <fmt/format.h>

#include "describe.h"

namespace hb::layer_diff {
namespace {

using State = ProcedureStep::State;

// Outermost calls of modules; where there are none (a module of the program's own, called directly), all calls.
bool outermost(const LayerDiff& layer) { return layer.ref && !layer.ref->parent && layer.ref->has_path; }

// Counts pairs that agree, and notes the first that does not.
struct Tally {
  int64_t same = 0, all = 0;
  std::string first;
  void add(bool agrees, const std::string& what) {
    ++all;
    same += agrees;
    if (!agrees && first.empty()) first = what;
  }
  ProcedureStep step(const char* name, const std::string& things, const std::string& none) const {
    if (all == 0) return {name, State::unknown, none};
    if (same == all) return {name, State::agrees, fmt::format("{} {} agree", all, things)};
    return {name, State::differs, fmt::format("{} of {} {} differ, first {}", all - same, all, things, first)};
  }
};

std::string describe(const TensorDiff& d) {
  if (!d.problem.empty()) return d.problem;
  return fmt::format("max abs {:.3g}", d.metrics.max_abs);
}

// Tensors that the program gave to its network: inputs of the first outermost call in each step.
ProcedureStep inputs(const Report& report) {
  Tally tally;
  int64_t step = -1;
  for (const LayerDiff& layer : report.layers) {
    if (!outermost(layer) || !layer.test || layer.step == step) continue;
    step = layer.step;
    for (const TensorDiff& d : layer.forward)
      if (d.ref && d.test && d.ref->kind == Kind::input)
        tally.add(d.pass(), fmt::format("input {} of {} in step {}: {}", d.ref->index, layer_name(*layer.ref, false),
                                        step, describe(d)));
  }
  return tally.step("inputs", "inputs of the network", "the traces share no inputs of an outermost module");
}

ProcedureStep mode(const Report& report) {
  Tally tally;
  int64_t training = 0;
  for (const LayerDiff& layer : report.layers) {
    if (!layer.ref || !layer.test || !layer.ref->has_path || !layer.test->has_path) continue;
    const bool ref = layer.ref->training, test = layer.test->training;
    training += ref;
    tally.add(ref == test, fmt::format("{}: {} in the reference, {} in the test", layer_name(*layer.ref, false),
                                       ref ? "train" : "eval", test ? "train" : "eval"));
  }
  ProcedureStep step = tally.step("mode", "calls of modules", "the traces share no calls of modules");
  if (step.state == State::agrees)
    step.text = fmt::format("{}, {}", step.text,
                            training == 0           ? "all in evaluation mode"
                            : training == tally.all ? "all in training mode"
                                                    : fmt::format("{} in training mode", training));
  return step;
}

ProcedureStep weights(const Report& report) {
  Tally tally;
  for (const StateDiff& s : report.state) {
    if (s.kind != Kind::parameter && s.kind != Kind::buffer) continue;
    const std::string name = state_name(s, false);
    const TensorDiff& d = s.tensor;
    if (!d.ref || !d.test)
      tally.add(false, fmt::format("{}: only in the {}", name, d.ref ? "reference" : "test"));
    else
      tally.add(d.pass(), name + ": " + describe(d));
  }
  return tally.step("weights", "parameters and buffers", "the traces share no parameters");
}

// The outputs of the outermost calls, in order: the program goes on with them.
ProcedureStep outputs(const Report& report) {
  Tally tally;
  double worst = 0;
  for (const LayerDiff& layer : report.layers) {
    if (!outermost(layer) || !layer.test) continue;
    for (const TensorDiff& d : layer.forward) {
      if (!d.ref || !d.test || d.ref->kind != Kind::output) continue;
      worst = std::max(worst, d.metrics.max_abs);
      tally.add(d.pass(), fmt::format("{} in step {}: {}", layer_name(*layer.ref, false), layer.step, describe(d)));
    }
  }
  ProcedureStep step =
      tally.step("outputs", "outputs of the network", "the traces share no outputs of an outermost module");
  if (step.state == State::agrees) step.text += fmt::format(", max abs {:.3g}", worst);
  return step;
}

ProcedureStep layers(const Report& report) {
  if (report.compared == 0) return {"layers", State::unknown, "nothing was compared"};
  if (report.failed == 0)
    return {"layers", State::agrees,
            fmt::format("{} tensors of {} layers agree", report.compared, report.layers.size())};
  std::string first;
  if (const auto id = report.first_forward ? report.first_forward : report.first_backward) {
    const LayerDiff& layer = report.layers[static_cast<size_t>(*id)];
    const Call& call = layer.ref ? *layer.ref : *layer.test;
    first = fmt::format(", first {}, {}", layer_title(call, false), report.first_forward ? "forward" : "backward");
    if (!layer.hints.empty()) first += ": " + layer.hints.front().text;
  } else if (report.first_state) {
    const StateDiff& state = report.state[static_cast<size_t>(*report.first_state)];
    first = fmt::format(", first {} ({}) of step {}", state_name(state, false), name_of(state.kind), state.step);
    if (!state.hints.empty()) first += ": " + state.hints.front().text;
  }
  return {"layers", State::differs,
          fmt::format("{} of {} tensors differ{}", report.failed, std::max(report.compared, report.failed), first)};
}

}  // namespace

std::array<ProcedureStep, 5> five_steps(const Report& report) {
  return {inputs(report), mode(report), weights(report), outputs(report), layers(report)};
}

}  // namespace hb::layer_diff
