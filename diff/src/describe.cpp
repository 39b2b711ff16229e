#include "describe.h"

#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hb::layer_diff {

std::string layer_name(const Call& call, bool roots) {
  if (!call.has_path) return clean(call.type.empty() ? "(unnamed)" : call.type + "()");
  if (call.path.empty()) return clean(call.root.empty() ? "(root)" : "(" + call.root + ")");
  return clean(roots && !call.root.empty() ? call.root + ":" + call.path : call.path);
}

std::string layer_name(const LayerDiff& layer, bool roots) {
  const bool from_test = !layer.ref || (!layer.ref->has_path && layer.test && layer.test->has_path);
  return layer_name(from_test ? *layer.test : *layer.ref, roots);
}

std::string layer_type(const LayerDiff& layer) {
  if (!layer.ref) return clean(layer.test->type);
  if (!layer.test || layer.ref->type == layer.test->type || layer.test->type.empty()) return clean(layer.ref->type);
  return clean(layer.ref->type + " / " + layer.test->type);
}

std::string tensor_name(const Record& record) {
  if (record.kind == Kind::parameter || record.kind == Kind::buffer) return clean(record.name);
  if (!record.name.empty()) return clean(record.name) + ' ' + name_of(record.kind);
  return fmt::format("{} {}", name_of(record.kind), record.index);
}

std::string state_name(const StateDiff& state, bool roots) {
  std::string module = roots && !state.root.empty() ? state.root + ":" + state.path : state.path;
  if (!module.empty() && !state.name.empty()) module += '.';
  return clean(module + state.name);
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

std::string clean(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // C1 controls are U+0080 to U+009F: two bytes in UTF-8.
    const bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) ++i;
    result += c1 || byte < 0x20 || byte == 0x7F ? '?' : text[i];
  }
  return result;
}

}  // namespace hb::layer_diff
