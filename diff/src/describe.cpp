#include "describe.h"

#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hb::layer_diff {

std::string layer_name(const Call& call, bool roots) {
  if (!call.has_path) return printable(call.type.empty() ? "(unnamed)" : call.type + "()");
  if (call.path.empty()) return printable(call.root.empty() ? "(root)" : "(" + call.root + ")");
  return printable(roots && !call.root.empty() ? call.root + ":" + call.path : call.path);
}

std::string layer_name(const LayerDiff& layer, bool roots) {
  const bool from_test = !layer.ref || (!layer.ref->has_path && layer.test && layer.test->has_path);
  return layer_name(from_test ? *layer.test : *layer.ref, roots);
}

std::string layer_title(const Call& call, bool roots) {
  const std::string name = layer_name(call, roots);
  return call.has_path && !call.type.empty() ? name + " (" + printable(call.type) + ")" : name;
}

std::string layer_type(const LayerDiff& layer) {
  if (!layer.ref) return printable(layer.test->type);
  if (!layer.test || layer.ref->type == layer.test->type || layer.test->type.empty()) return printable(layer.ref->type);
  return printable(layer.ref->type + " / " + layer.test->type);
}

std::string tensor_name(const Record& record) {
  if (record.kind == Kind::parameter || record.kind == Kind::buffer) return printable(record.name);
  if (!record.name.empty()) return printable(record.name) + ' ' + name_of(record.kind);
  return fmt::format("{} {}", name_of(record.kind), record.index);
}

std::string state_name(const StateDiff& state, bool roots) {
  std::string module = roots && !state.root.empty() ? state.root + ":" + state.path : state.path;
  if (!module.empty() && !state.name.empty()) module += '.';
  return printable(module + state.name);
}

bool many_roots(const Report& report) {
  std::set<std::string> roots;
  for (const LayerDiff& layer : report.layers) {
    if (layer.ref && layer.ref->has_path) roots.insert(layer.ref->root);
  }
  return roots.size() > 1;
}

const char* name_of(Match match) {
  constexpr std::array kNames = {"path", "map", "order", "fused", "only_ref", "only_test"};
  return kNames[static_cast<size_t>(match)];
}

const char* name_of(Verdict verdict) {
  constexpr std::array kNames = {"none", "exact", "rounding", "bug", "inherited"};
  return kNames[static_cast<size_t>(verdict)];
}

const Record& any_of(const TensorDiff& pair) { return pair.ref ? *pair.ref : *pair.test; }

bool is_output(Kind kind) { return kind == Kind::output; }
bool is_gradient(Kind kind) {
  return kind == Kind::grad_output || kind == Kind::grad_input || kind == Kind::parameter_grad;
}

const TensorDiff* worst_of(const std::vector<TensorDiff>& pairs, bool (*taken)(Kind)) {
  const TensorDiff* worst = nullptr;
  const auto weight = [](const TensorDiff& pair) {
    return std::tuple(!pair.problem.empty(), !pair.metrics.pass, pair.metrics.share_out, pair.metrics.max_abs);
  };
  for (const TensorDiff& pair : pairs) {
    if (taken(any_of(pair).kind) && (!worst || weight(*worst) < weight(pair))) worst = &pair;
  }
  return worst;
}

std::string printed(const std::vector<int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

std::string printed(double value) { return value == 0 ? "0" : fmt::format("{:.1e}", value); }

std::string printed_snr(const Metrics& metrics) {
  return metrics.max_abs == 0 ? "equal" : fmt::format("{:.0f} dB", metrics.snr_db);
}

}  // namespace hb::layer_diff
