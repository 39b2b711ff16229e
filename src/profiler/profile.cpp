// What becomes of a recording: a table and a file.
#include <halfbridge/profiler.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <ostream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "io/atomic_file.h"

namespace hb::profiler {
namespace {

constexpr double kNanosecondsPerMicrosecond = 1000, kNanosecondsPerMillisecond = 1e6;

const char* category(EventKind kind) {
  switch (kind) {
    case EventKind::function:
      return "cpu_op";
    case EventKind::gradient:
      return "autograd";
    case EventKind::range:
      return "user_annotation";
  }
  return "";
}

struct Row {
  std::string name;
  int64_t calls = 0, total_ns = 0, self_ns = 0;
};

std::vector<Row> rows_of(const std::vector<Event>& events) {
  std::map<std::string, Row> by_name;
  for (const Event& e : events) {
    Row& row = by_name[e.name];
    row.name = e.name;
    ++row.calls;
    row.total_ns += e.duration_ns;
    row.self_ns += e.self_ns;
  }
  std::vector<Row> rows;
  for (auto& [name, row] : by_name) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.self_ns > b.self_ns; });
  return rows;
}

}  // namespace

std::string Profile::table(size_t max_rows) const {
  const std::vector<Row> rows = rows_of(events_);
  const size_t shown = std::min(max_rows, rows.size());
  int width = 4;
  int64_t all = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i < shown) width = std::max(width, static_cast<int>(rows[i].name.size()));
    all += rows[i].self_ns;
  }
  std::string text;
  const auto line = [&](const char* format, auto... values) {
    char buffer[512];
    std::snprintf(buffer, sizeof buffer, format, values...);
    text += buffer;
  };
  width = std::min(width, 80);
  line("%-*s %8s %12s %12s %7s\n", width, "name", "calls", "total ms", "own ms", "own %");
  for (size_t i = 0; i < shown; ++i) {
    const Row& r = rows[i];
    line("%-*.*s %8lld %12.3f %12.3f %7.1f\n", width, width, r.name.c_str(), static_cast<long long>(r.calls),
         static_cast<double>(r.total_ns) / kNanosecondsPerMillisecond,
         static_cast<double>(r.self_ns) / kNanosecondsPerMillisecond,
         all > 0 ? 100 * static_cast<double>(r.self_ns) / static_cast<double>(all) : 0.0);
  }
  if (shown < rows.size()) line("... and %zu more names\n", rows.size() - shown);
  return text;
}

void Profile::write(std::ostream& out) const {
  using Json = nlohmann::ordered_json;
  out << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  const char* separator = "\n";
  for (const Event& e : events_) {
    Json json{{"ph", "X"},
              {"cat", category(e.kind)},
              {"name", e.name},
              {"pid", 0},
              {"tid", thread_},
              {"ts", static_cast<double>(e.start_ns) / kNanosecondsPerMicrosecond},
              {"dur", static_cast<double>(e.duration_ns) / kNanosecondsPerMicrosecond}};
    if (!e.shapes.empty()) json["args"]["Input Dims"] = e.shapes;
    // A name of the program's may be no UTF-8.
    out << separator << json.dump(-1, ' ', false, Json::error_handler_t::replace);
    separator = ",\n";
  }
  out << "\n]}\n";
}

void Profile::save(const std::string& path) const {
  std::ostringstream out;
  write(out);
  const std::string text = out.str();
  io::AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace hb::profiler
