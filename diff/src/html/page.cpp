#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include <halfbridge/diff/html.h>

#include "report_json.h"

namespace hb::layer_diff {

extern const char kHtmlPage[];

namespace {

/// Cells as characters, 64 steps of the logarithm from the smallest to the largest: a heat map takes 4 KB instead
/// of 80.
/// `.` is not an error, `!` NaN or infinity.
Json packed_cells(const HeatMap& map) {
  constexpr std::string_view kCode = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (double cell : map.cells) {
    if (!(cell > 0) || !std::isfinite(cell)) continue;
    low = std::min(low, cell);
    high = std::max(high, cell);
  }
  low = std::max(std::min(low, high), high * 1e-6);  // more than six decades show nothing
  const double span = high > low ? std::log(high / low) : 1;
  std::string cells;
  for (double cell : map.cells) {
    if (!std::isfinite(cell))
      cells += '!';
    else if (!(cell > 0))
      cells += '.';
    else
      cells += kCode[static_cast<size_t>(std::clamp(std::log(cell / low) / span, 0., 1.) * 63)];
  }
  return {{"slice", map.slice}, {"rows", map.rows}, {"columns", map.columns},
          {"low", low},         {"high", high},     {"cells", cells}};
}

/// Keeps the heat maps within what a browser opens fast; the first layers that differ come first.
void leave_out_heat_maps(Json& report) {
  size_t room = 6 << 20;
  const auto visit = [&](Json& tensor) {
    const auto map = tensor.find("heat_map");
    if (map == tensor.end() || map->contains("left_out")) return;
    const size_t bytes = (*map)["cells"].get_ref<const std::string&>().size();
    if (bytes > room)
      *map = {{"left_out", true}};
    else
      room -= bytes;
  };
  const auto visit_layer = [&](Json& layer) {
    for (const char* list : {"forward", "backward"}) std::for_each(layer[list].begin(), layer[list].end(), visit);
  };
  Json& layers = report["layers"];
  const auto is_first = [&](const Json& layer) {
    return layer["id"] == report["first_forward"] || layer["id"] == report["first_backward"];
  };
  for (Json& layer : layers)
    if (is_first(layer)) visit_layer(layer);
  for (Json& layer : layers)
    if (!is_first(layer)) visit_layer(layer);
  // The page shows no pictures of states.
  for (Json& state : report["state"]) state["tensor"].erase("heat_map"), state["tensor"].erase("histogram");
}

/// JSON that cannot end the script element it stands in.
std::string script_safe(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (char c : json) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

}  // namespace

std::string html_page(const Report& report) {
  Json json = report_json(report, packed_cells);
  leave_out_heat_maps(json);
  constexpr std::string_view kMark = "@HB_PAGE_DATA@";
  std::string page = kHtmlPage;
  return page.replace(page.find(kMark), kMark.size(),
                      script_safe(json.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace hb::layer_diff
