// What is between layers: containers, inputs that no layer computed, and which layer is to blame.
#include "explainer.h"

#include <algorithm>

#include <fmt/format.h>

#include <halfbridge/error.h>
#include <halfbridge/io/dtype_name.h>

#include "../describe.h"
#include "../hints/causes.h"

namespace hb::layer_diff::replay {

std::optional<size_t> index_of(const std::vector<TensorDiff>& diffs, Kind kind) {
  std::optional<size_t> first;
  for (const TensorDiff& diff : diffs) {
    if (!diff.ref || !diff.test || diff.ref->kind != kind || diff.ref->file < 0 || diff.test->file < 0) continue;
    if (!diff.pass()) return static_cast<size_t>(diff.ref->index);
    if (!first) first = static_cast<size_t>(diff.ref->index);
  }
  return first;
}

void Explainer::run() {
  note_first_states();
  for (LayerDiff& layer : report_.layers)
    if (paired(layer) && !is_container(layer)) forward_pass(layer);
  for (LayerDiff& layer : report_.layers)
    if (paired(layer) && is_container(layer)) container(layer);
  for (auto layer = report_.layers.rbegin(); layer != report_.layers.rend(); ++layer)
    if (paired(*layer) && !is_container(*layer) && !layer->gradients_pass && layer->outputs_pass) backward_pass(*layer);
  given_inputs();
  set_first();
}

void Explainer::note_first_states() {
  for (const LayerDiff& layer : report_.layers) {
    if (!paired(layer) || !layer.ref->has_path || layer.state.empty()) continue;
    const bool equal = std::all_of(layer.state.begin(), layer.state.end(), [](const TensorDiff& diff) {
      const Kind kind = (diff.ref ? diff.ref : diff.test)->kind;
      return (kind != Kind::parameter && kind != Kind::buffer) || is_equal(diff);
    });
    first_state_equal_.emplace(layer.ref->root + "/" + layer.ref->path, equal);
  }
}

bool Explainer::own_state(const LayerDiff& layer) const {
  const auto found = first_state_equal_.find(layer.ref->root + "/" + layer.ref->path);
  return found == first_state_equal_.end() || !found->second;
}

void Explainer::container(LayerDiff& layer) {
  if (layer.outputs_pass) return;
  const LayerDiff* first = nullptr;
  for (const LayerDiff& other : report_.layers)
    if (paired(other) && !is_container(other) && is_within(other, layer) && !other.outputs_pass && !first)
      first = &other;
  if (first) {
    layer.verdict = first->verdict == Verdict::rounding ? Verdict::rounding : Verdict::inherited;
    layer.verdict_reason = "made of layers: see " + layer_name(*first, false);
  } else if (layer.inputs_pass) {
    layer.verdict = Verdict::bug;
    layer.verdict_reason = "its inputs and all layers in it agree: what it does between them or after them differs";
    if (!culprit_) culprit_ = layer.id;
  }
}

bool Explainer::is_within(const LayerDiff& inner, const LayerDiff& outer) const {
  if (inner.step != outer.step) return false;
  const Call* call = inner.ref;
  for (int depth = 0; call && call->parent && depth < 256; ++depth) {
    if (*call->parent == outer.ref->id) return true;
    call = call_of(*call->parent);
  }
  return false;
}

const Call* Explainer::call_of(int64_t id) const {
  const auto& calls = report_.ref->calls();
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const Call& c) { return c.id == id; });
  return found == calls.end() ? nullptr : &*found;
}

const LayerDiff* Explainer::first_foreign_inputs(int up_to) const {
  for (int id = 0; id <= up_to; ++id) {
    const LayerDiff& layer = report_.layers[static_cast<size_t>(id)];
    if (!paired(layer)) continue;
    if (!layer.inputs_pass) return &layer;
    if (!is_container(layer) && !layer.outputs_pass) return nullptr;
  }
  return nullptr;
}

void Explainer::given_inputs() {
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

LayerDiff* Explainer::first_coarser(int up_to) {
  for (int id = 0; id <= up_to; ++id) {
    if (!paired(at(id)) || is_container(at(id))) continue;
    for (const TensorDiff& diff : at(id).forward)
      if (diff.ref && diff.test && diff.ref->kind == Kind::output && unit_roundoff(diff.ref->dtype) > 0 &&
          unit_roundoff(diff.test->dtype) > unit_roundoff(diff.ref->dtype))
        return &at(id);
  }
  return nullptr;
}

void Explainer::set_first() {
  if (!report_.first_forward) return;
  if (culprit_) {
    report_.first_forward = *culprit_;
    return;
  }
  const LayerDiff& first = at(*report_.first_forward);
  if (paired(first) && is_container(first))
    for (const LayerDiff& layer : report_.layers)
      if (paired(layer) && !is_container(layer) && !layer.outputs_pass) {
        report_.first_forward = layer.id;
        break;
      }
  if (at(*report_.first_forward).verdict != Verdict::rounding) return;
  if (LayerDiff* coarser = first_coarser(*report_.first_forward)) {
    report_.first_forward = coarser->id;
    const Dtype dtype = replay::load(*report_.test, *coarser->test).dtype;
    coarser->hints.push_back(
        {"half_precision",
         fmt::format("the test computes in {} from here on, which explains what differs", io::dtype_name(dtype)), 0});
  }
}

}  // namespace hb::layer_diff::replay

namespace hb::layer_diff {

bool can_replay(const std::string& type) { return replay::find_declaration(type) != nullptr; }

void explain(Report& report, const ExplainOptions& options) {
  if (!report.ref || !report.test) throw Error("[explain] expected a report with both traces");
  replay::Explainer(report, options).run();
  hints::explain_states(report);
}

}  // namespace hb::layer_diff
