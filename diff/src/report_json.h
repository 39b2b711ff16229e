// The report as a JSON value; JSON and the HTML page write it.
#pragma once

#include <nlohmann/json.hpp>

#include <halfbridge/diff/report.h>

namespace hb::layer_diff {

using Json = nlohmann::ordered_json;
/// How a heat map is written: the page packs its cells.
using HeatMapJson = Json(const HeatMap& map);
Json report_json(const Report& report, HeatMapJson* heat_map);

}  // namespace hb::layer_diff
