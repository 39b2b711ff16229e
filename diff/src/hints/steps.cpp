// What differs in the rules by which both sides updated a parameter.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <halfbridge/ops.h>

#include "optimizer.h"

namespace hb::layer_diff::hints {

namespace {

// Blocks spread evenly over a large tensor: the rows of an embedding that a batch uses lie anywhere.
Tensor sample(const Trace& trace, const Record* record) {
  constexpr int64_t kBlocks = 128, kBlock = 64;
  if (!record || record->file < 0) return Tensor();
  const int64_t n = record->numel();
  if (n <= kBlocks * kBlock) return trace.load(*record).reshape({-1});
  Tensor values = hb::empty({kBlocks * kBlock}, TensorOptions().dtype(kDouble));
  for (int64_t b = 0; b < kBlocks; ++b)
    trace.read(*record, (n - kBlock) / (kBlocks - 1) * b, kBlock, values.data_ptr<double>() + b * kBlock);
  return values.to(record->dtype);
}

UpdateData update_data(const Trace& trace, const Record& updated) {
  UpdateData data;
  const auto state = trace.state_of(updated.root, updated.path, updated.step);
  const auto before = state.find(updated.name);
  data.updated = sample(trace, &updated);
  data.parameter = sample(trace, before == state.end() ? nullptr : before->second);
  data.steps = updated.step + 1;
  const std::string prefix = updated.name + "/";
  for (const Record* record : trace.of_module(updated.root, updated.path)) {
    if (record->kind == Kind::parameter_grad && record->step == updated.step && record->name == updated.name &&
        !data.gradient.defined())
      data.gradient = sample(trace, record);
    if (record->kind != Kind::optimizer_state || record->name.rfind(prefix, 0) != 0 || record->step > updated.step ||
        record->step < updated.step - 1)
      continue;
    auto& states = record->step == updated.step ? data.states : data.states_before;
    if (Tensor values = sample(trace, record); values.defined()) states[record->name.substr(prefix.size())] = values;
  }
  const auto step = data.states.find("step");
  if (step != data.states.end() && step->second.numel() == 1)
    data.steps = std::max<int64_t>(1, std::llround(step->second.to(kDouble).item<double>()));
  return data;
}

// A number that somebody wrote: three digits hold all that an update shows of it.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, 3 - std::ceil(std::log10(std::abs(value))));
  const double round = std::round(value * scale) / scale;
  return std::abs(round - value) < 1e-3 * std::abs(value) ? round : value;
}

// Factors of what a state keeps, or leaves: 0.999 is known by its distance from 1.
bool near_one(const std::string& name) {
  return name.rfind("beta", 0) == 0 || name == "momentum" || name == "dampening";
}

std::string text_of(const std::string& name, double value) {
  if (name == "nesterov") return value != 0 ? "true" : "false";
  if (name == "eps" && value == 0) return "0 or too small to show";
  return fmt::format("{:.4g}", near_one(name) ? 1 - rounded(1 - value) : rounded(value));
}

bool differ(const std::string& name, double a, double b) {
  if (near_one(name)) a = 1 - a, b = 1 - b;
  return std::abs(a - b) > 2e-3 * std::max(std::abs(a), std::abs(b)) && std::abs(a - b) > 1e-9;
}

std::vector<Hint> differences(const UpdateRule& ref, const UpdateRule& test, bool first_with_momentum) {
  const auto base = [](const std::string& kind) { return kind.substr(0, 4); };
  const auto decays = [](const UpdateRule& rule) {
    const auto found = rule.values.find("weight_decay");
    return found != rule.values.end() && found->second != 0;
  };
  const bool decoupled = ref.kind != test.kind && ref.kind != "SGD" && decays(ref) && decays(test);
  if (base(ref.kind) != base(test.kind) || decoupled)
    return {{"optimizer",
             fmt::format("the update is that of {} where the reference's is that of {}", test.kind, ref.kind),
             test.max_abs}};
  std::vector<Hint> hints;
  for (const auto& [name, value] : ref.values) {
    const auto other = test.values.find(name);
    if (other == test.values.end() || !differ(name, value, other->second)) continue;
    std::string text = fmt::format(
        "the step agrees with {0}={1} (the reference's with {0}={2}), by {3} fitted to parameter, gradient and update",
        name, text_of(name, other->second), text_of(name, value), test.kind);
    if (test.assumes_betas) text += ", with the betas 0.9 and 0.999 taken for granted";
    if (name == "lr" && first_with_momentum) text += "; Nesterov's momentum would look the same in the first step";
    hints.push_back({name, text, test.max_abs});
  }
  return hints;
}

}  // namespace

std::vector<Hint> StepComparison::hints(const Record& ref, const Record& test) {
  const UpdateData ref_data = update_data(*report_.ref, ref);
  if (!last_ || !explains(*last_, ref_data)) last_ = fit_update(ref_data);
  if (!last_) return {};
  const UpdateData test_data = update_data(*report_.test, test);
  if (explains(*last_, test_data)) return {};
  const auto rule = fit_update(test_data);
  if (!rule) return {};
  return differences(*last_, *rule, test_data.steps == 1 && test_data.states.count("momentum_buffer") != 0);
}

}  // namespace hb::layer_diff::hints
