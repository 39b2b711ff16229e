// A graph to look at: as text, and as a page with times and places.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <halfbridge/error.h>

#include "program.h"

namespace hb::graph {

std::string Program::name_of(int memory) const {
  static constexpr const char* kOrigins[] = {"argument ", "outside ", "%"};
  const Memory& m = memories_[memory];
  return hb::detail::str(kOrigins[static_cast<int>(m.origin)], memory, ":", m.bytes);
}

std::string Program::print() const {
  std::ostringstream out;
  for (const RecordedCall& c : calls_) {
    std::string reads, writes;
    for (const Place& p : c.places) (p.access == Access::reads ? reads : writes) += " " + name_of(p.memory);
    for (const TensorPlace& t : c.tensors) reads += " " + name_of(t.memory);
    out << writes << (writes.empty() ? "" : " = ") << c.call->name << reads << '\n';
  }
  return out.str();
}

void Program::save_page(std::string file, int replays) {
  page_ = std::move(file);
  timed_ = replays_timed_ = replays;
  seconds_.assign(calls_.size(), 0);
}

void Program::run_timed() {
  using Clock = std::chrono::steady_clock;
  auto before = Clock::now();
  for (size_t i = 0; i < calls_.size(); ++i) {
    run_call(i);
    const auto now = Clock::now();
    seconds_[i] += std::chrono::duration<double>(now - before).count();
    before = now;
  }
  if (--timed_ == 0) write_page();
}

namespace {
std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}
}  // namespace

// One row a call; one rectangle a temporary value: calls go from left to right, places in the block from top to bottom.
void Program::write_page() const {
  double all = 0;
  for (const double s : seconds_) all += s;
  std::ostringstream out;
  out << "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Graph</title><style>body{font:14px "
         "sans-serif;margin:2em}"
         "table{border-collapse:collapse}td,th{padding:2px 8px;text-align:left;border-bottom:1px solid #ddd}"
         "td.n{text-align:right}rect{stroke:#fff;stroke-width:.2}</style><h1>Graph</h1><p>"
      << calls_.size() << " calls, " << number(1e6 * all / replays_timed_)
      << " µs; temporary values and gradients lie in " << arena_bytes() << " bytes</p>\n";
  if (arena_) {
    out << "<h2>Temporary values and gradients</h2><p>From left to right: calls. From top to bottom: the "
           "block.</p><svg "
           "width=\"100%\" "
           "height=\"400\" preserveAspectRatio=\"none\" viewBox=\"0 0 "
        << calls_.size() << " 1000\">\n";
    for (const Placed& placed : placed_) {
      const int i = placed.memory;
      const Memory& m = memories_[i];
      const double scale = 1000.0 / static_cast<double>(arena_bytes());
      out << "<rect x=\"" << m.first << "\" width=\"" << m.last - m.first + 1 << "\" y=\""
          << scale * static_cast<double>(placed.offset) << "\" height=\"" << scale * static_cast<double>(m.bytes)
          << "\" fill=\"hsl(" << i * 47 % 360 << ",60%,65%)\"><title>" << name_of(i) << " bytes, calls " << m.first
          << " to " << m.last << "</title></rect>\n";
    }
    out << "</svg>\n";
  }
  out << "<h2>Calls</h2><table><tr><th></th><th>function</th><th>µs</th><th>%</th><th>writes</th><th>reads</th></tr>\n";
  for (size_t i = 0; i < calls_.size(); ++i) {
    std::string reads, writes;
    for (const Place& p : calls_[i].places) (p.access == Access::reads ? reads : writes) += " " + name_of(p.memory);
    for (const TensorPlace& t : calls_[i].tensors) reads += " " + name_of(t.memory);
    out << "<tr><td class=\"n\">" << i << "</td><td>" << calls_[i].call->name << "</td><td class=\"n\">"
        << number(1e6 * seconds_[i] / replays_timed_) << "</td><td class=\"n\">" << number(100 * seconds_[i] / all)
        << "</td><td>" << writes << "</td><td>" << reads << "</td></tr>\n";
  }
  out << "</table></html>\n";
  std::ofstream file(page_);
  file << out.str();
  file.close();
  HB_CHECK(file, "[save_page] cannot write ", page_);
}

}  // namespace hb::graph
