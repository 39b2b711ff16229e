#include <halfbridge/diff/text_table.h>
#include <halfbridge/diff/trace_text.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <halfbridge/trace/pattern.h>

#include "describe.h"
#include "record_json.h"

namespace hb::layer_diff {
namespace {

bool wanted(const Record& record, const std::string& pattern) {
  if (pattern.empty()) return true;
  return (record.has_path && trace::matches_pattern(pattern, record.path)) ||
         trace::matches_pattern(pattern, record.type);
}

std::vector<double> first_values(const Trace& trace, const Record& record, int64_t most) {
  const int64_t n = record.file < 0 ? 0 : std::min(most, record.numel());
  std::vector<double> values(static_cast<size_t>(n));
  if (n > 0) trace.read(record, 0, n, values.data());
  return values;
}

std::string layer_of(const Record& record) {
  if (!record.has_path) return record.type.empty() ? "" : printable(record.type) + "()";
  return printable(record.path.empty() ? "(" + record.root + ")" : record.path);
}

std::string text_of(const Statistics& s) {
  std::string text = fmt::format("{:.3g} .. {:.3g}, mean {:.3g}, std {:.3g}", s.min, s.max, s.mean, s.std);
  if (s.nan > 0) text += fmt::format(", {} NaN", s.nan);
  if (s.inf > 0) text += fmt::format(", {} inf", s.inf);
  return text;
}

std::optional<Statistics> statistics(const Trace& trace, const Record& record, const TraceTextOptions& options) {
  if (record.statistics) return record.statistics;
  if (!options.statistics) return std::nullopt;
  return statistics_of(trace, record);
}

Row row_of(const Trace& trace, const Record& record, const TraceTextOptions& options) {
  std::string values;
  for (double value : first_values(trace, record, options.values)) values += fmt::format("{:.5g} ", value);
  const std::optional<Statistics> s = statistics(trace, record, options);
  return {{std::to_string(record.order), std::to_string(record.step), layer_of(record), printable(record.type),
           tensor_name(record), dtype_name(record.dtype), printed(record.shape), s ? text_of(*s) : "", values},
          record.file < 0 ? Ink::faint : Ink::plain,
          ""};
}

}  // namespace

Statistics statistics_of(const Trace& trace, const Record& record) {
  constexpr int64_t kBlock = 65536;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Statistics s{nan, nan, 0, 0, 0, 0, 0, 0};
  double sum = 0, square = 0;
  int64_t finite = 0;
  std::vector<double> values(static_cast<size_t>(std::min(kBlock, record.numel())));
  const auto each = [&](const auto& visit) {
    for (int64_t first = 0; first < record.numel(); first += kBlock) {
      const int64_t n = std::min(kBlock, record.numel() - first);
      trace.read(record, first, n, values.data());
      std::for_each(values.begin(), values.begin() + n, visit);
    }
  };
  each([&](double x) {
    s.nan += std::isnan(x);
    s.inf += std::isinf(x);
    s.zeros += x == 0;
    if (!std::isfinite(x)) return;
    s.min = finite == 0 ? x : std::min(s.min, x);
    s.max = finite == 0 ? x : std::max(s.max, x);
    sum += x;
    square += x * x;
    ++finite;
  });
  s.l2 = std::sqrt(square);
  s.mean = finite > 0 ? sum / static_cast<double>(finite) : nan;
  double spread = 0;
  each([&](double x) { spread += std::isfinite(x) ? (x - s.mean) * (x - s.mean) : 0; });
  s.std = finite > 0 ? std::sqrt(spread / static_cast<double>(finite)) : nan;
  return s;
}

std::string trace_text(const Trace& trace, const TraceTextOptions& options) {
  std::vector<Row> rows;
  bool steps = false, any_statistics = false;
  for (const Record& record : trace.records()) {
    if (!wanted(record, options.layer)) continue;
    rows.push_back(row_of(trace, record, options));
    steps = steps || record.step != trace.records().front().step;
    any_statistics = any_statistics || !rows.back().cells[7].empty();
  }
  std::vector<Column> columns = {{"order", true, 2},    {"step", true, 4},        {"layer", false, 0, 14},
                                 {"type", false, 3, 6}, {"tensor", false, 0},     {"dtype", false, 5},
                                 {"shape", false, 6},   {"statistics", false, 7}, {"values", false, 8, 16}};
  const auto without = [&](size_t c) {
    columns.erase(columns.begin() + static_cast<long>(c));
    for (Row& row : rows) row.cells.erase(row.cells.begin() + static_cast<long>(c));
  };
  if (options.values == 0) without(8);
  if (!any_statistics) without(7);
  if (!steps) without(1);
  const std::string end = trace.end() == "complete" ? ""
                          : trace.end().empty()     ? ", not closed"
                                                    : ", " + printable(trace.end());
  const size_t n = rows.size();
  std::string text = fmt::format("{} ({}{})\n\n", printable(trace.path()), printable(trace.producer()), end);
  if (n > 0) text += table(std::move(columns), std::move(rows), options.terminal) + '\n';
  return text + fmt::format("{} of {} records, {} calls\n", n, trace.records().size(), trace.calls().size());
}

std::string trace_json(const Trace& trace, const TraceTextOptions& options) {
  using Json = nlohmann::ordered_json;
  const auto number = [](double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); };
  std::string text;
  for (const Record& record : trace.records()) {
    if (!wanted(record, options.layer)) continue;
    Json json = {
        {"order", record.order}, {"step", record.step}, {"kind", name_of(record.kind)}, {"index", record.index}};
    if (record.call) json["call"] = *record.call;
    if (record.has_path) json["path"] = record.path;
    for (const auto& [key, value] : {std::pair("root", &record.root), {"type", &record.type}, {"name", &record.name}}) {
      if (!value->empty()) json[key] = *value;
    }
    json["dtype"] = dtype_name(record.dtype);
    json["shape"] = record.shape;
    if (const auto s = statistics(trace, record, options)) {
      json["stats"] = {{"min", number(s->min)}, {"max", number(s->max)}, {"mean", number(s->mean)},
                       {"std", number(s->std)}, {"l2", number(s->l2)},   {"nan", s->nan},
                       {"inf", s->inf},         {"zeros", s->zeros}};
    }
    if (options.values > 0) {
      json["values"] = Json::array();
      for (double value : first_values(trace, record, options.values)) json["values"].push_back(number(value));
    }
    text += json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  }
  return text;
}

}  // namespace hb::layer_diff
