// The report as JSON: fields as in report.h.
#include <cmath>

#include <halfbridge/diff/output.h>

#include "describe.h"
#include "record_json.h"
#include "report_json.h"

namespace hb::layer_diff {
namespace {

// JSON has no infinity and no NaN.
Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (double value : values) list.push_back(number(value));
  return list;
}

Json trace_json(const Trace& trace) {
  return {{"path", trace.path()},
          {"producer", trace.producer()},
          {"end", trace.end()},
          {"records", trace.records().size()}};
}

Json call_json(const Call* call) {
  if (!call) return nullptr;
  Json json = {{"call", call->id}, {"order", call->order}, {"root", call->root}};
  json["path"] = call->has_path ? Json(call->path) : Json(nullptr);
  json["type"] = call->type;
  json["config"] = call->config;
  json["training"] = call->training;
  json["parent"] = call->parent ? Json(*call->parent) : Json(nullptr);
  return json;
}

Json record_json(const Record* record) {
  if (!record) return nullptr;
  return {{"order", record->order}, {"dtype", dtype_name(record->dtype)}, {"shape", record->shape}};
}

Json metrics_json(const Metrics& m) {
  return {{"max_abs", number(m.max_abs)},
          {"max_rel", number(m.max_rel)},
          {"mean_abs", number(m.mean_abs)},
          {"rms", number(m.rms)},
          {"ref_rms", number(m.ref_rms)},
          {"cosine", number(m.cosine)},
          {"snr_db", number(m.snr_db)},
          {"max_ulp", number(m.max_ulp)},
          {"share_out", m.share_out},
          {"numel", m.numel},
          {"count_out", m.count_out},
          {"nan_ref", m.nan_ref},
          {"nan_test", m.nan_test},
          {"inf_ref", m.inf_ref},
          {"inf_test", m.inf_test},
          {"worst", m.worst},
          {"worst_ref", number(m.worst_ref)},
          {"worst_test", number(m.worst_test)},
          {"pass", m.pass}};
}

Json all_cells(const HeatMap& map) {
  return {{"slice", map.slice}, {"rows", map.rows}, {"columns", map.columns}, {"cells", numbers(map.cells)}};
}

Json tensor_json(const TensorDiff& pair, HeatMapJson* heat_map) {
  const Record& any = any_of(pair);
  Json json = {{"kind", name_of(any.kind)},
               {"index", any.index},
               {"name", any.name},
               {"ref", record_json(pair.ref)},
               {"test", record_json(pair.test)},
               {"pass", pair.pass()},
               {"compared", pair.compared},
               {"problem", pair.problem},
               {"note", pair.note}};
  json["tolerance"] = {{"atol", pair.tolerance.atol}, {"rtol", pair.tolerance.rtol}};
  if (pair.compared) json["metrics"] = metrics_json(pair.metrics);
  if (heat_map && pair.histogram) {
    const Histogram& h = *pair.histogram;
    json["histogram"] = {
        {"low", h.low}, {"high", h.high}, {"below", h.below}, {"above", h.above}, {"counts", h.counts}};
  }
  if (heat_map && pair.heat_map) json["heat_map"] = heat_map(*pair.heat_map);
  return json;
}

Json tensors_json(const std::vector<TensorDiff>& pairs, HeatMapJson* heat_map) {
  Json list = Json::array();
  for (const TensorDiff& pair : pairs) list.push_back(tensor_json(pair, heat_map));
  return list;
}

Json hints_json(const std::vector<Hint>& hints) {
  Json list = Json::array();
  for (const Hint& hint : hints) {
    list.push_back({{"cause", hint.cause}, {"text", hint.text}, {"max_abs", number(hint.max_abs)}});
  }
  return list;
}

Json layer_json(const LayerDiff& layer, HeatMapJson* heat_map) {
  Json json = {{"id", layer.id}, {"step", layer.step}, {"match", name_of(layer.match)}, {"container", layer.container}};
  json["ref"] = call_json(layer.ref);
  json["test"] = call_json(layer.test);
  json["fused"] = Json::array();
  for (const Call* call : layer.fused) json["fused"].push_back(call_json(call));
  json["fused_in_ref"] = layer.fused_in_ref;
  json["inputs_pass"] = layer.inputs_pass;
  json["outputs_pass"] = layer.outputs_pass;
  json["gradients_pass"] = layer.gradients_pass;
  json["forward"] = tensors_json(layer.forward, heat_map);
  json["backward"] = tensors_json(layer.backward, heat_map);
  json["state"] = tensors_json(layer.state, nullptr);
  json["split"] = nullptr;
  if (layer.split) {
    json["split"] = {{"inherited", number(layer.split->inherited)},
                     {"added", number(layer.split->added)},
                     {"noise", number(layer.split->noise)}};
  }
  json["verdict"] = name_of(layer.verdict);
  json["verdict_reason"] = layer.verdict_reason;
  json["hints"] = hints_json(layer.hints);
  return json;
}

Json state_json(const StateDiff& state, HeatMapJson* heat_map) {
  Json json = {{"step", state.step},
               {"root", state.root},
               {"path", state.path},
               {"name", state.name},
               {"kind", name_of(state.kind)}};
  json["tensor"] = tensor_json(state.tensor, heat_map);
  json["hints"] = hints_json(state.hints);
  return json;
}

Json id_json(const std::optional<int>& id) { return id ? Json(*id) : Json(nullptr); }

}  // namespace

Json report_json(const Report& report, HeatMapJson* heat_map) {
  Json json = {{"halfbridge.diff", 1}, {"agree", report.agree()}};
  json["ref"] = trace_json(*report.ref);
  json["test"] = trace_json(*report.test);
  json["compared"] = report.compared;
  json["failed"] = report.failed;
  json["statistics"] = report.statistics;
  json["only_ref"] = report.only_ref;
  json["only_test"] = report.only_test;
  json["first_forward"] = id_json(report.first_forward);
  json["first_backward"] = id_json(report.first_backward);
  json["first_state"] = id_json(report.first_state);
  json["notes"] = report.notes;
  json["layers"] = Json::array();
  for (const LayerDiff& layer : report.layers) json["layers"].push_back(layer_json(layer, heat_map));
  json["state"] = Json::array();
  for (const StateDiff& state : report.state) json["state"].push_back(state_json(state, heat_map));
  return json;
}

std::string json_report(const Report& report) {
  // A path may hold any bytes.
  return report_json(report, all_cells).dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace hb::layer_diff
