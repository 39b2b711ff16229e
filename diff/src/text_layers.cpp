// The tables of layers and states.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "describe.h"
#include "text_report.h"
#include "text_table.h"

namespace hb::layer_diff {
namespace {

// What a row shows of one direction.
struct Shown {
  std::string max_abs, max_rel, snr, out, ulp, mean, cosine;
};

std::string share(const Metrics& metrics) {
  if (metrics.count_out == 0) return "";
  const double percent = 100 * metrics.share_out;
  return percent < 0.1 ? "<0.1%" : fmt::format("{:.{}f}%", percent, percent < 10 ? 1 : 0);
}

Shown shown(const TensorDiff* pair) {
  if (!pair) return {};
  if (!pair->problem.empty()) return {"shapes", "", "", "", "", "", ""};
  if (!pair->compared) return {pair->metrics.pass ? "stats" : "STATS", "", "", "", "", "", ""};
  const Metrics& m = pair->metrics;
  return {printed(m.max_abs),
          printed(m.max_rel),
          printed_snr(m),
          share(m),
          printed(m.max_ulp),
          printed(m.mean_abs),
          fmt::format("{:.6f}", m.cosine)};
}

std::vector<Column> layer_columns() {
  return {{"", false, 0},
          {"layer", false, 0, true},
          {"type", false, 6, true},
          {"output: max abs", true, 0},
          {"max rel", true, 5},
          {"SNR", true, 7},
          {"out", true, 8},
          {"ULP", true, 2},
          {"mean abs", true, 1},
          {"cosine", true, 1},
          {"gradient: max abs", true, 9},
          {"max rel", true, 3},
          {"SNR", true, 5},
          {"out", true, 7}};
}

bool compared(const LayerDiff& layer) { return !layer.forward.empty() || !layer.backward.empty(); }
bool passes(const LayerDiff& layer) { return layer.outputs_pass && layer.gradients_pass; }

class LayerRows {
 public:
  LayerRows(const Report& report, const TextOptions& options)
      : report_(report), options_(options), roots_(many_roots(report)) {}

  std::vector<Row> run(int64_t step) {
    for (const LayerDiff& layer : report_.layers) {
      if (layer.step != step) continue;
      const bool alone = !layer.ref || !layer.test;
      if (!options_.all && (alone || !compared(layer))) continue;
      if (!options_.all && passes(layer)) {
        passing_.push_back(&layer);
        continue;
      }
      flush_passing();
      add(layer);
    }
    flush_passing();
    flush_hidden();
    return std::move(rows_);
  }

 private:
  void add(const LayerDiff& layer) {
    const bool first = report_.first_forward == layer.id || report_.first_backward == layer.id;
    if (!options_.all && !first && listed_ >= options_.most_rows) {
      ++hidden_;
      return;
    }
    flush_hidden();
    ++listed_;
    Row row;
    row.cells = {mark(passes(layer) ? "ok" : "FAIL", passes(layer)), layer_name(layer, roots_), layer_type(layer)};
    fill(row, shown(worst_of(layer.forward, is_output)), shown(worst_gradient(layer)));
    if (!layer.ref || !layer.test) row.cells[0] = layer.ref ? "-" : "+";
    row.ink = passes(layer) ? Ink::plain : first ? Ink::strong_fail : Ink::fail;
    if (report_.first_forward == layer.id) row.mark = arrow("first");
    if (report_.first_backward == layer.id) row.mark = arrow(row.mark.empty() ? "first grad" : "first, grad too");
    rows_.push_back(std::move(row));
  }

  const TensorDiff* worst_gradient(const LayerDiff& layer) const {
    const TensorDiff* a = worst_of(layer.backward, is_gradient);
    const TensorDiff* b = worst_of(layer.state, is_gradient);
    return !a || (b && a->pass() && !b->pass()) ? b : a;
  }

  std::string arrow(const std::string& text) const { return (options_.unicode ? "◀ " : "<- ") + text; }
  std::string mark(const char* plain, bool pass) const { return options_.unicode ? (pass ? "✓" : "✗") : plain; }

  static void fill(Row& row, const Shown& forward, const Shown& backward) {
    for (const std::string* cell :
         {&forward.max_abs, &forward.max_rel, &forward.snr, &forward.out, &forward.ulp, &forward.mean, &forward.cosine,
          &backward.max_abs, &backward.max_rel, &backward.snr, &backward.out}) {
      row.cells.push_back(*cell);
    }
  }

  // One row for layers that pass one after the other, with the worst of each figure.
  void flush_passing() {
    if (passing_.empty()) return;
    if (passing_.size() == 1) {
      flush_hidden();
      Row row;
      const LayerDiff& layer = *passing_[0];
      row.cells = {mark("ok", true), layer_name(layer, roots_), layer_type(layer)};
      fill(row, shown(worst_of(layer.forward, is_output)), shown(worst_gradient(layer)));
      row.ink = Ink::pass;
      rows_.push_back(std::move(row));
      passing_.clear();
      return;
    }
    flush_hidden();
    Row row;
    const std::string dots = options_.unicode ? " … " : " .. ";
    row.cells = {mark("ok", true), layer_name(*passing_.front(), roots_) + dots + layer_name(*passing_.back(), roots_),
                 fmt::format("{} agree", passing_.size())};
    const TensorDiff* forward = nullptr;
    const TensorDiff* backward = nullptr;
    const auto larger = [](const TensorDiff* a, const TensorDiff* b) {
      return !a || (b && b->metrics.max_abs > a->metrics.max_abs) ? b : a;
    };
    for (const LayerDiff* layer : passing_) {
      forward = larger(forward, worst_of(layer->forward, is_output));
      backward = larger(backward, worst_gradient(*layer));
    }
    fill(row, shown(forward), shown(backward));
    row.ink = Ink::pass;
    rows_.push_back(std::move(row));
    passing_.clear();
  }

  void flush_hidden() {
    if (hidden_ == 0) return;
    Row row;
    row.cells.assign(layer_columns().size(), "");
    row.cells[1] = fmt::format("{} more differ (--all)", hidden_);
    row.ink = Ink::faint;
    rows_.push_back(std::move(row));
    hidden_ = 0;
  }

  const Report& report_;
  const TextOptions& options_;
  bool roots_;
  std::vector<Row> rows_;
  std::vector<const LayerDiff*> passing_;
  size_t listed_ = 0, hidden_ = 0;
};

}  // namespace

std::string layer_table(const Report& report, const TextOptions& options) {
  std::vector<int64_t> steps;
  for (const LayerDiff& layer : report.layers) {
    if (steps.empty() || steps.back() != layer.step) steps.push_back(layer.step);
  }
  std::string text;
  for (int64_t step : steps) {
    std::vector<Row> rows = LayerRows(report, options).run(step);
    if (rows.empty()) continue;
    if (steps.size() > 1) text += paint(fmt::format("Step {}", step), Ink::heading, options) + '\n';
    text += table(layer_columns(), std::move(rows), options) + '\n';
  }
  return text;
}

std::string state_table(const Report& report, const TextOptions& options) {
  const bool roots = many_roots(report);
  struct Count {
    size_t all = 0, failed = 0;
  };
  std::map<Kind, Count> counts;
  std::vector<Row> rows;
  size_t hidden = 0;
  for (const StateDiff& state : report.state) {
    Count& count = counts[state.kind];
    ++count.all;
    const bool pass = state.tensor.pass();
    count.failed += !pass;
    if (pass && !options.all) continue;
    if (!options.all && rows.size() >= options.most_rows) {
      ++hidden;
      continue;
    }
    const Shown s = shown(&state.tensor);
    const bool missing = !state.tensor.ref || !state.tensor.test;
    rows.push_back({{options.unicode ? (pass ? "✓" : "✗") : (pass ? "ok" : "FAIL"), state_name(state, roots),
                     fmt::format("{}{}", name_of(state.kind), state.step > 0 ? fmt::format(" @{}", state.step) : ""),
                     missing ? state.tensor.problem : s.max_abs, s.max_rel, s.snr, s.out},
                    pass ? Ink::plain : Ink::fail,
                    ""});
  }
  std::string text;
  for (const auto& [kind, count] : counts) {
    const std::string what = fmt::format("{}: {} of {} agree", name_of(kind), count.all - count.failed, count.all);
    text += paint(what, count.failed > 0 ? Ink::fail : Ink::pass, options) + '\n';
  }
  if (!rows.empty()) {
    text += '\n' + table({{"", false, 0},
                          {"state", false, 0, true},
                          {"kind", false, 3, true},
                          {"max abs", true, 0},
                          {"max rel", true, 2},
                          {"SNR", true, 4},
                          {"out", true, 5}},
                         std::move(rows), options);
  }
  if (hidden > 0) text += paint(fmt::format("{} more differ (--all)", hidden), Ink::faint, options) + '\n';
  return text.empty() ? text : text + '\n';
}

}  // namespace hb::layer_diff
