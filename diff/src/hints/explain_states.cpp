// Causes of states that differ: gradients of parameters, running statistics, the optimizer's step.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include <halfbridge/ops.h>

#include "causes.h"
#include "gradients.h"
#include "optimizer.h"
#include "relations.h"
#include "search.h"

namespace hb::layer_diff::hints {

namespace {

// Looking at each of thousands of parameters of a network that diverged would tell nothing new.
constexpr std::chrono::seconds kTimeForStates{20};

const Record* find(const Trace& trace, const Record& like, Kind kind, int64_t step, const std::string& name) {
  for (const Record& record : trace.records())
    if (record.kind == kind && record.step == step && record.root == like.root && record.path == like.path &&
        record.name == name && record.file >= 0)
      return &record;
  return nullptr;
}
Tensor load(const Trace& trace, const Record* record) { return record ? trace.load(*record) : Tensor(); }

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

UpdateData update_data(const Trace& trace, const Record& updated) {
  UpdateData data;
  data.updated = trace.load(updated);
  data.parameter = value_before(trace, updated);
  data.gradient = load(trace, find(trace, updated, Kind::parameter_grad, updated.step, updated.name));
  data.steps = updated.step + 1;
  const std::string prefix = updated.name + "/";
  for (const Record& record : trace.records()) {
    if (record.kind != Kind::optimizer_state || record.root != updated.root || record.path != updated.path ||
        record.file < 0 || record.name.rfind(prefix, 0) != 0)
      continue;
    if (record.step == updated.step) data.states[record.name.substr(prefix.size())] = trace.load(record);
    if (record.step == updated.step - 1) data.states_before[record.name.substr(prefix.size())] = trace.load(record);
  }
  const auto step = data.states.find("step");
  if (step != data.states.end() && step->second.numel() == 1)
    data.steps = std::max<int64_t>(1, std::llround(step->second.to(kDouble).item<double>()));
  return data;
}

std::vector<Hint> optimizer_hints(const Report& report, const StateDiff& state) {
  const auto ref = fit_update(update_data(*report.ref, *state.tensor.ref));
  const auto test = fit_update(update_data(*report.test, *state.tensor.test));
  if (!ref || !test) return {};
  const auto base = [](const std::string& kind) { return kind.substr(0, 4); };
  if (base(ref->kind) != base(test->kind))
    return {{"optimizer",
             fmt::format("the update is that of {} where the reference's is that of {}", test->kind, ref->kind),
             test->max_abs}};
  std::vector<Hint> hints;
  for (const auto& [name, value] : ref->values) {
    const auto other = test->values.find(name);
    if (other == test->values.end() ||
        std::abs(other->second - value) <= 2e-3 * std::max(std::abs(value), std::abs(other->second)))
      continue;
    hints.push_back({name,
                     fmt::format("the step agrees with {}={:.4g} (the reference's with {}={:.4g}), by {} fitted to "
                                 "parameter, gradient and update",
                                 name, other->second, name, value, test->kind),
                     test->max_abs});
  }
  return hints;
}

void explain_state(const Report& report, StateDiff& state) {
  const Record &ref = *state.tensor.ref, &test = *state.tensor.test;
  if (ref.numel() != test.numel()) return;
  if (state.kind == Kind::parameter_grad) {
    if (const auto hint = gradient_hint(*report.test, state.step, report.ref->load(ref), report.test->load(test),
                                        "the gradient of `" + state.name + "`"))
      state.hints.push_back(*hint);
  } else if (state.kind == Kind::updated_buffer) {
    if (const auto hint = momentum_hint(report, state)) state.hints.push_back(*hint);
  } else if (state.kind == Kind::updated_parameter) {
    state.hints = optimizer_hints(report, state);
  } else if (state.kind == Kind::parameter || state.kind == Kind::buffer) {
    const Call* call = call_of(*report.ref, ref);
    state.hints.push_back(describe_state(*report.ref, call ? call->path : ref.path, call ? call->type : "", ref.step,
                                         state.name, report.ref->load(ref), report.test->load(test)));
  }
}

}  // namespace

void explain_states(Report& report) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeForStates;
  for (StateDiff& state : report.state) {
    const bool same_size =
        state.tensor.ref && state.tensor.test && state.tensor.ref->file >= 0 && state.tensor.test->file >= 0;
    // Steps of optimizers are smaller than tolerances of layers: those that pass are looked at too.
    const bool update = state.kind == Kind::updated_parameter || state.kind == Kind::updated_buffer;
    const bool differs = !state.tensor.pass() ||
                         (update && state.tensor.compared && state.tensor.metrics.max_abs > 0 && !report.agree());
    if (!same_size || !differs) continue;
    if (std::chrono::steady_clock::now() > deadline) return;
    explain_state(report, state);
  }
}

}  // namespace hb::layer_diff::hints
