// The tables of layers and states.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include <halfbridge/diff/text_table.h>

#include "describe.h"
#include "text_report.h"

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
  const std::string output = "output", gradient = "grad";
  return {{"", false, 0},
          {"layer", false, 0, 14},
          {"type", false, 8, 6},
          {"max abs", true, 0, 0, output},
          {"max rel", true, 5, 0, output},
          {"SNR", true, 7, 0, output},
          {"out", true, 9, 0, output},
          {"ULP", true, 2, 0, output},
          {"mean abs", true, 1, 0, output},
          {"cosine", true, 1, 0, output},
          {"max abs", true, 10, 0, gradient},
          {"max rel", true, 3, 0, gradient},
          {"SNR", true, 4, 0, gradient},
          {"out", true, 6, 0, gradient}};
}

bool compared(const LayerDiff& layer) { return !layer.forward.empty() || !layer.backward.empty(); }
bool passes(const LayerDiff& layer) { return layer.outputs_pass && layer.gradients_pass; }

const TensorDiff* worst_gradient(const LayerDiff& layer) {
  const TensorDiff* a = worst_of(layer.backward, is_gradient);
  const TensorDiff* b = worst_of(layer.state, is_gradient);
  return !a || (b && a->pass() && !b->pass()) ? b : a;
}

// The pair with the larger error.
const TensorDiff* larger(const TensorDiff* a, const TensorDiff* b) {
  const auto weight = [](const TensorDiff& pair) { return std::pair(!pair.pass(), pair.metrics.max_abs); };
  return !a || (b && weight(*a) < weight(*b)) ? b : a;
}

class LayerRows {
 public:
  LayerRows(const Report& report, const TextOptions& options)
      : report_(report), options_(options), roots_(many_roots(report)) {}

  std::vector<Row> run(int64_t step) {
    for (const LayerDiff& layer : report_.layers) {
      if (layer.step != step || (!options_.all && (!layer.ref || !layer.test || !compared(layer)))) continue;
      if (options_.all) {
        add({&layer});
        continue;
      }
      if (!run_.empty() && (!alike(*run_.back(), layer) || marked(layer) || marked(*run_.back()))) flush();
      run_.push_back(&layer);
    }
    flush();
    return std::move(rows_);
  }

 private:
  bool marked(const LayerDiff& layer) const {
    return report_.first_forward == layer.id || report_.first_backward == layer.id;
  }
  static bool alike(const LayerDiff& a, const LayerDiff& b) {
    return a.outputs_pass == b.outputs_pass && a.gradients_pass == b.gradients_pass;
  }

  // Layers of one result that follow each other: those that pass in one row, of those that fail the first and the last.
  void flush() {
    constexpr size_t kFirst = 3, kLast = 2;
    const size_t n = run_.size();
    if (n > 0 && passes(*run_[0])) {
      add(run_);
    } else if (n <= kFirst + kLast + 1) {
      for (const LayerDiff* layer : run_) add({layer});
    } else {
      for (size_t i = 0; i < kFirst; ++i) add({run_[i]});
      add({run_.begin() + kFirst, run_.end() - kLast});
      for (size_t i = n - kLast; i < n; ++i) add({run_[i]});
    }
    run_.clear();
  }

  // One row, with the worst of each figure.
  void add(const std::vector<const LayerDiff*>& layers) {
    const LayerDiff& layer = *layers.front();
    const TensorDiff* forward = nullptr;
    const TensorDiff* backward = nullptr;
    for (const LayerDiff* each : layers) {
      forward = larger(forward, worst_of(each->forward, is_output));
      backward = larger(backward, worst_gradient(*each));
    }
    const bool pass = passes(layer), alone = !layer.ref || !layer.test;
    Row row;
    row.cells = {alone ? (layer.ref ? "-" : "+") : mark(layer), layer_name(layer, roots_), layer_type(layer)};
    if (layers.size() > 1) {
      row.cells[1] += fmt::format(" + {} more", layers.size() - 1);
      row.cells[2] = options_.unicode ? "…" : "..";
    }
    const Shown f = shown(forward), g = shown(backward);
    for (const std::string* cell :
         {&f.max_abs, &f.max_rel, &f.snr, &f.out, &f.ulp, &f.mean, &f.cosine, &g.max_abs, &g.max_rel, &g.snr, &g.out}) {
      row.cells.push_back(*cell);
    }
    row.ink = alone ? Ink::faint : pass ? Ink::pass : marked(layer) ? Ink::strong_fail : Ink::fail;
    const bool first = report_.first_forward == layer.id, first_gradient = report_.first_backward == layer.id;
    if (first || first_gradient) {
      row.mark = std::string(options_.unicode ? "◀ " : "< ") + (!first           ? "first grad"
                                                                : first_gradient ? "first, both"
                                                                                 : "first");
    }
    rows_.push_back(std::move(row));
  }

  // Outputs that differ, or gradients alone.
  std::string mark(const LayerDiff& layer) const {
    if (passes(layer)) return options_.unicode ? "✓" : "ok";
    if (layer.outputs_pass) return options_.unicode ? "∇" : "grad";
    return options_.unicode ? "✗" : "FAIL";
  }

  const Report& report_;
  const TextOptions& options_;
  bool roots_;
  std::vector<Row> rows_;
  std::vector<const LayerDiff*> run_;
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
                          {"state", false, 0, 14},
                          {"kind", false, 3, 9},
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
