#include "report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace hb::cli::amp_report {

namespace {
// f32 holds a loss of usual size times these.
constexpr int kLeastPower = -64, kMostPower = 64;
}  // namespace

Fit fit(const GradientCounts& counts, int power) {
  return {power, counts.below(kSmallest - power), counts.below(kSmallestNormal - power),
          std::ldexp(counts.largest, power)};
}

std::optional<Fit> advise(const GradientCounts& counts, int headroom) {
  if (counts.finite() == 0) return std::nullopt;
  int power = kMostPower;
  while (power >= kLeastPower && std::ldexp(counts.largest, power + headroom) >= kOverflow) --power;
  if (power < kLeastPower) return std::nullopt;
  // A larger scale never loses more.
  Fit best = fit(counts, power);
  while (power > 0) {
    const Fit smaller = fit(counts, --power);
    if (smaller.below_smallest != best.below_smallest || smaller.below_normal != best.below_normal) break;
    best = smaller;
  }
  return best;
}

GradientCounts Layer::all() const {
  GradientCounts sum = parameters;
  sum.add(outputs);
  return sum;
}

namespace {

std::string layer_name(const GradientRow& row, bool several_roots) {
  if (row.path.empty()) return row.root.empty() ? "(no module)" : "(" + row.root + ")";
  return several_roots && !row.root.empty() ? row.root + ":" + row.path : row.path;
}

/// Networks that got a gradient, and those that got none: a copy that was only evaluated, say.
struct Roots {
  std::set<std::string> trained, idle;
};
Roots roots_of(const GradientRecord& record) {
  Roots roots;
  for (const GradientRow& row : record.rows)
    if (row.counts.finite() + row.counts.zeros + row.counts.not_finite > 0) roots.trained.insert(row.root);
  for (const GradientRow& row : record.rows)
    if (!row.root.empty() && roots.trained.count(row.root) == 0) roots.idle.insert(row.root);
  roots.trained.erase("");
  return roots;
}

std::vector<Layer> layers_of(const GradientRecord& record, const Roots& roots) {
  std::vector<Layer> layers;
  std::map<std::pair<std::string, std::string>, size_t> places;
  for (const GradientRow& row : record.rows) {
    if (roots.idle.count(row.root) != 0) continue;
    const auto [place, is_new] = places.try_emplace({row.root, row.path}, layers.size());
    if (is_new) layers.push_back({layer_name(row, roots.trained.size() > 1), row.type, {}, {}, {}, {}});
    Layer& layer = layers[place->second];
    (row.kind == "output" ? layer.outputs : layer.parameters).add(row.counts);
    layer.tensors.push_back(row);
  }
  return layers;
}

std::vector<std::string> notes_of(const Report& report, const Roots& roots, bool complete) {
  std::vector<std::string> notes;
  if (!roots.idle.empty()) {
    std::string names;
    for (const std::string& root : roots.idle) names += (names.empty() ? "" : ", ") + root;
    notes.push_back("Not listed, since no gradient reached it: " + names + ".");
  }
  const GradientCounts& all = report.all;
  if (!complete) notes.push_back("The program had not ended when this was written.");
  if (all.from_half > 0)
    notes.push_back(
        fmt::format("{} of the gradients were recorded in fp16: what was lost there is counted as zero. "
                    "Record the program in float32 to see it.",
                    share(all.from_half, all.finite() + all.zeros + all.not_finite)));
  if (all.not_finite > 0)
    notes.push_back(fmt::format("{} elements were inf or NaN and are left out.", count_text(all.not_finite)));
  if (all.finite() > 0 && !report.advice)
    notes.push_back(
        fmt::format("The largest gradient, {:.3g} in {}, fits into fp16 with no scale.", all.largest, report.limit));
  return notes;
}

}  // namespace

Report make_report(const GradientRecord& record, int headroom) {
  Report report;
  report.steps = record.steps, report.headroom = headroom;
  const Roots roots = roots_of(record);
  report.layers = layers_of(record, roots);
  for (Layer& layer : report.layers) {
    const GradientCounts counts = layer.all();
    if (counts.largest > report.all.largest) report.limit = layer.name;
    report.all.add(counts);
    layer.own = advise(counts, headroom);
  }
  report.advice = advise(report.all, headroom);
  report.notes = notes_of(report, roots, record.complete);
  return report;
}

std::string sentence(const Report& report) {
  if (report.all.finite() == 0) return "No gradients: nothing to advise";
  return report.advice ? "Advised constant loss scale: " + scale_text(report.advice->power)
                       : "No constant loss scale holds these gradients";
}

std::vector<std::string> explanation(const Report& report) {
  if (!report.advice) return {};
  const Fit plain = fit(report.all, 0), &scaled = *report.advice;
  const double room = kLargest / scaled.largest;
  const uint64_t n = report.all.finite();
  return {
      fmt::format("Below fp16's smallest number (2^-24): {} of the gradients without a scale, {} with it; below its "
                  "smallest normal one (2^-14): {}, {}.",
                  share(plain.below_smallest, n), share(scaled.below_smallest, n), share(plain.below_normal, n),
                  share(scaled.below_normal, n)),
      fmt::format("The largest gradient is {:.3g}, in {}; scaled it is {:.4g}, of fp16's {:g}: room for one {:.{}f} "
                  "times as large.",
                  report.all.largest, report.limit, scaled.largest, kLargest, room, room < 10 ? 1 : 0)};
}

std::string share(uint64_t part, uint64_t of) {
  if (part == 0 || of == 0) return "0";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(of);
  if (percent < 0.01) return "<0.01 %";
  return part == of ? "100 %" : fmt::format("{:.2f} %", std::min(percent, 99.99));
}

std::string count_text(uint64_t n) {
  if (n < 10'000) return fmt::format("{}", n);
  double value = static_cast<double>(n);
  const char* unit = "";
  for (const char* next : {"k", "M", "G", "T"}) {
    if (value < 1000) break;
    value /= 1000, unit = next;
  }
  return fmt::format("{:.3g} {}", value, unit);
}

std::string scale_text(int power) {
  const std::string two = fmt::format("2^{}", power);
  return power >= 0 && power <= 24 ? fmt::format("{} ({})", 1 << power, two) : two;
}

}  // namespace hb::cli::amp_report
