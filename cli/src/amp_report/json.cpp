#include <cmath>

#include <nlohmann/json.hpp>

#include "report.h"

namespace hb::cli::amp_report {

namespace {

using Json = nlohmann::ordered_json;

Json of(const Fit& fit) {
  return {{"power", fit.power},
          {"scale", std::ldexp(1.0, fit.power)},
          {"below_smallest", fit.below_smallest},
          {"below_normal", fit.below_normal},
          {"largest", fit.largest}};
}
Json of(const std::optional<Fit>& fit) { return fit ? of(*fit) : Json(nullptr); }

Json of(const GradientCounts& counts, const std::optional<Fit>& advice) {
  size_t first = 0, last = GradientCounts::kBins;
  while (first < last && counts.bins[first] == 0) ++first;
  while (last > first && counts.bins[last - 1] == 0) --last;
  return {{"finite", counts.finite()},
          {"zeros", counts.zeros},
          {"not_finite", counts.not_finite},
          {"from_fp16", counts.from_half},
          {"unscaled", of(fit(counts, 0))},
          {"scaled", advice ? of(fit(counts, advice->power)) : Json(nullptr)},
          {"histogram",
           {{"first_power", first == last ? 0 : GradientCounts::kLowest + static_cast<int>(first)},
            {"counts", std::vector<uint64_t>(counts.bins.begin() + static_cast<std::ptrdiff_t>(first),
                                             counts.bins.begin() + static_cast<std::ptrdiff_t>(last))}}}};
}

}  // namespace

std::string json(const Report& report) {
  Json layers = Json::array();
  for (const Layer& layer : report.layers) {
    Json tensors = Json::array();
    for (const GradientRow& row : layer.tensors)
      tensors.push_back({{"kind", row.kind}, {"name", row.name}, {"gradients", of(row.counts, report.advice)}});
    layers.push_back({{"name", layer.name},
                      {"type", layer.type},
                      {"own", of(layer.own)},
                      {"gradients", of(layer.all(), report.advice)},
                      {"tensors", std::move(tensors)}});
  }
  const Json result = {{"advice", of(report.advice)}, {"headroom", report.headroom},
                       {"steps", report.steps},       {"largest_in", report.limit},
                       {"notes", report.notes},       {"gradients", of(report.all, report.advice)},
                       {"layers", std::move(layers)}};
  return result.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace hb::cli::amp_report
