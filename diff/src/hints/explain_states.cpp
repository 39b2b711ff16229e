// Causes of states that differ: gradients of parameters, running statistics, the optimizer's step.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include <halfbridge/ops.h>

#include "../describe.h"
#include "causes.h"
#include "gradients.h"
#include "optimizer.h"
#include "relations.h"
#include "search.h"

namespace hb::layer_diff::hints {

namespace {

// Looking at each of thousands of parameters of a network that diverged would tell nothing new.
constexpr std::chrono::seconds kTimeForStates{20};

Tensor value_before(const Trace& trace, const Record& record) {
  const auto state = trace.state_of(record.root, record.path, record.step);
  const auto found = state.find(record.name);
  return found == state.end() || found->second->file < 0 ? Tensor() : trace.load(*found->second);
}

const Call* call_of(const Trace& trace, const Record& record) {
  for (const Call& call : trace.calls())
    if (call.has_path && call.root == record.root && call.path == record.path && call.step == record.step) return &call;
  return nullptr;
}

// new - old is momentum * (statistics of the batch - old): its ratio is that of the momenta.
std::optional<Hint> momentum_hint(const Report& report, const StateDiff& state) {
  if (state.name.rfind("running_", 0) != 0) return std::nullopt;
  const Record &ref = *state.tensor.ref, &test = *state.tensor.test;
  const Tensor old_ref = value_before(*report.ref, ref), old_test = value_before(*report.test, test);
  if (!old_ref.defined() || !old_test.defined() || old_ref.numel() != old_test.numel() || !agree(old_ref, old_test))
    return std::nullopt;
  const Tensor change_ref = report.ref->load(ref).to(kDouble) - old_ref.to(kDouble);
  const Tensor change_test = report.test->load(test).to(kDouble) - old_test.to(kDouble);
  const double size = change_ref.square().sum().item<double>();
  if (!(size > 0)) return std::nullopt;
  const double ratio = (change_ref * change_test).sum().item<double>() / size;
  const auto error = replay::error_of(change_test, change_ref * ratio);
  if (!(error.rms <= 1e-4 * error.ref_rms) && error.max > 0) return std::nullopt;
  if (std::abs(ratio) < 1e-6)
    return Hint{"momentum", fmt::format("`{}` is not updated in the test (momentum 0, or eval mode)", state.name), 0};
  const Call* call = call_of(*report.ref, ref);
  const auto* declaration = call ? replay::find_declaration(call->type) : nullptr;
  const auto momentum =
      declaration ? replay::arguments_of(*declaration, call->config).optional_number("momentum") : std::nullopt;
  if (!momentum)
    return Hint{"momentum", fmt::format("`{}` moves {:.4g} times as far: another momentum", state.name, ratio),
                error.max};
  return Hint{
      "momentum",
      fmt::format("agrees with momentum={:.4g} (the reference has momentum={:.4g})", ratio * *momentum, *momentum),
      error.max};
}

// What both sides recorded of a parameter in one step.
struct Parameter {
  const StateDiff *gradient = nullptr, *updated = nullptr;
};
using Place = std::tuple<int64_t, std::string, std::string, std::string>;  // step, root, path, name

bool on_disk(const TensorDiff& d) { return d.ref && d.test && d.ref->file >= 0 && d.test->file >= 0; }

class StateExplainer {
 public:
  explicit StateExplainer(Report& report) : report_(report), steps_(report) {
    for (const StateDiff& state : report.state) {
      Parameter& parameter = parameters_[{state.step, state.root, state.path, state.name}];
      if (state.kind == Kind::parameter_grad) parameter.gradient = &state;
      if (state.kind == Kind::updated_parameter) parameter.updated = &state;
    }
  }

  void explain(StateDiff& state) {
    if (!on_disk(state.tensor) || state.tensor.ref->numel() != state.tensor.test->numel()) return;
    switch (state.kind) {
      case Kind::parameter:
      case Kind::buffer:
        if (!state.tensor.pass()) values(state);
        break;
      case Kind::parameter_grad:
        if (!state.tensor.pass()) gradient(state);
        break;
      case Kind::updated_buffer:
        if (!state.tensor.pass() || (!report_.agree() && state.tensor.metrics.max_abs > 0)) statistics(state);
        break;
      case Kind::updated_parameter:
        update(state);
        break;
      case Kind::optimizer_state:
        if (!state.tensor.pass()) moment(state);
        break;
      default:
        break;
    }
  }

 private:
  Report& report_;
  StepComparison steps_;
  std::map<Place, Parameter> parameters_;

  void values(StateDiff& state) {
    const Record &ref = *state.tensor.ref, &test = *state.tensor.test;
    const Call* call = call_of(*report_.ref, ref);
    const auto hint = describe_state(*report_.ref, call ? call->path : ref.path, call ? call->type : "", ref.step,
                                     state.name, report_.ref->load(ref), report_.test->load(test));
    if (hint)
      state.hints.push_back(*hint);
    else
      add_note(state, "differs from the reference's in no way that is known");
  }

  void gradient(StateDiff& state) {
    if (const auto hint = gradient_hint(*report_.test, state.step, report_.ref->load(*state.tensor.ref),
                                        report_.test->load(*state.tensor.test), "the gradient of `" + state.name + "`"))
      state.hints.push_back(*hint);
    else if (const auto untied = untied_hint(state))
      state.hints.push_back(*untied);
  }

  // Two parameters that are one tensor in the reference have the sum of what two tensors have in the test.
  std::optional<Hint> untied_hint(const StateDiff& state) {
    const Record& of_ref = *state.tensor.ref;
    for (const StateDiff& other : report_.state) {
      if (&other == &state || other.kind != Kind::parameter_grad || other.step != state.step ||
          !on_disk(other.tensor) || other.tensor.ref->shape != of_ref.shape)
        continue;
      const Record& ref = *other.tensor.ref;
      if (ref.file != of_ref.file || ref.offset != of_ref.offset) continue;
      const Tensor sum = report_.test->load(*state.tensor.test) + report_.test->load(*other.tensor.test);
      double left = 0;
      if (!agree(sum, report_.ref->load(ref), &left)) continue;
      return Hint{"untied_weights",
                  fmt::format("the reference's gradient is the sum of the test's for `{}` and for `{}`: one parameter "
                              "there, two here",
                              state_name(state, false), state_name(other, false)),
                  left};
    }
    return std::nullopt;
  }

  void statistics(StateDiff& state) {
    if (const auto hint = momentum_hint(report_, state)) state.hints.push_back(*hint);
  }

  // The rule of the step, where the gradients agree: a gradient that is off moves its parameter off.
  std::vector<Hint> rule_of(const StateDiff& state, const std::string& name) {
    const auto found = parameters_.find({state.step, state.root, state.path, name});
    if (found == parameters_.end()) return {};
    const auto& [gradient, updated] = found->second;
    if (!gradient || !gradient->tensor.pass() || !updated || !on_disk(updated->tensor)) return {};
    return steps_.hints(*updated->tensor.ref, *updated->tensor.test);
  }

  // A step is smaller than the tolerance of values: a parameter that agrees may still have moved by another rule.
  void update(StateDiff& state) {
    if (!state.tensor.compared || state.tensor.metrics.max_abs == 0) return;
    state.hints = rule_of(state, state.name);
    if (state.hints.empty() || !state.tensor.pass()) return;
    state.tensor.problem = "the optimizer's step is another, though smaller than the tolerance";
    ++report_.failed;
  }

  // exp_avg, exp_avg_sq, momentum_buffer: what of the rule is theirs.
  void moment(StateDiff& state) {
    static const std::map<std::string, std::vector<std::string>> numbers = {
        {"exp_avg", {"beta1", "weight_decay"}},
        {"exp_avg_sq", {"beta2", "weight_decay"}},
        {"momentum_buffer", {"momentum", "dampening", "weight_decay"}}};
    const size_t slash = state.name.rfind('/');
    const auto of_state = numbers.find(state.name.substr(slash + 1));
    if (slash == std::string::npos || of_state == numbers.end()) return;
    for (const Hint& hint : rule_of(state, state.name.substr(0, slash)))
      if (std::count(of_state->second.begin(), of_state->second.end(), hint.cause)) state.hints.push_back(hint);
  }

  // Beside the state and beside the layer that has it.
  void add_note(StateDiff& state, const std::string& note) {
    const auto add = [&](TensorDiff& tensor) { tensor.note += (tensor.note.empty() ? "" : "; ") + note; };
    add(state.tensor);
    for (LayerDiff& layer : report_.layers)
      for (TensorDiff& tensor : layer.state)
        if (tensor.ref == state.tensor.ref) add(tensor);
  }
};

}  // namespace

void explain_states(Report& report) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeForStates;
  StateExplainer explainer(report);
  for (StateDiff& state : report.state) {
    if (std::chrono::steady_clock::now() > deadline) {
      report.notes.emplace_back("not every parameter and step was explained: the time for it was used up");
      break;
    }
    explainer.explain(state);
  }
  report.first_state.reset();
  for (size_t i = 0; i < report.state.size() && !report.first_state; ++i)
    if (!report.state[i].tensor.pass()) report.first_state = static_cast<int>(i);
}

}  // namespace hb::layer_diff::hints
