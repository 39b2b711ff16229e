#include "text_report.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <halfbridge/diff/text_table.h>

#include "describe.h"

namespace hb::layer_diff {
namespace {

std::string bullet(const std::string& text, const TextOptions& options) {
  return wrapped((options.unicode ? "• " : "- ") + text, 2, options);
}

std::string listed(const std::vector<std::string>& names, bool all) {
  constexpr size_t kMost = 8;
  if (all || names.size() <= kMost) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kMost, ", "), names.size() - kMost);
}

std::string tensor_line(const TensorDiff& pair) {
  const std::string name = tensor_name(any_of(pair));
  if (!pair.problem.empty()) return fmt::format("{}: {}", name, pair.problem);
  const std::string note = pair.note.empty() ? "" : "; " + printable(pair.note);
  if (!pair.compared) return name + note;
  const Metrics& m = pair.metrics;
  if (m.max_abs == 0) return fmt::format("{} {}: equal{}", name, printed(pair.ref->shape), note);
  std::string text = fmt::format("{} {}: {}, max abs {}, max rel {}, SNR {}", name, printed(pair.ref->shape),
                                 m.pass ? "agrees" : "differs", printed(m.max_abs), printed(m.max_rel), printed_snr(m));
  if (!m.pass) {
    text += fmt::format(", {} of {} out of tolerance; worst at {}: {:.6g}, expected {:.6g}", m.count_out, m.numel,
                        printed(m.worst), m.worst_test, m.worst_ref);
  }
  const auto not_finite = [&](int64_t ref, int64_t test, const char* what) {
    if (ref != test) text += fmt::format(", {} {} against {} in the reference", test, what, ref);
  };
  not_finite(m.nan_ref, m.nan_test, "NaN");
  not_finite(m.inf_ref, m.inf_test, "inf");
  return text + note;
}

std::string cause(const LayerDiff& layer, const TextOptions& options) {
  std::string text;
  if (layer.split) {
    text +=
        bullet(fmt::format("relative error: {} inherited, {} added here, {} is rounding noise",
                           printed(layer.split->inherited), printed(layer.split->added), printed(layer.split->noise)),
               options);
  }
  if (layer.verdict != Verdict::none) {
    text += bullet(fmt::format("verdict: {}{}", name_of(layer.verdict),
                               layer.verdict_reason.empty() ? "" : ", " + printable(layer.verdict_reason)),
                   options);
  }
  for (const Hint& hint : layer.hints) {
    text += paint(bullet("hint: " + printable(hint.text), options), Ink::heading, options);
  }
  return text;
}

std::string divergence(const Report& report, int id, bool forward, const TextOptions& options) {
  const LayerDiff& layer = report.layers[static_cast<size_t>(id)];
  const std::string where = report.layers.front().step != report.layers.back().step || layer.step > 0
                                ? fmt::format(", step {}", layer.step)
                                : "";
  const std::string type = layer_type(layer);
  std::string text =
      paint(fmt::format("First divergence {}: {}{}{}", forward ? "forward" : "backward",
                        layer_name(layer, many_roots(report)), type.empty() ? "" : " (" + type + ")", where),
            Ink::heading, options) +
      '\n';
  const auto add = [&](const TensorDiff& pair) {
    text += paint(bullet(tensor_line(pair), options), pair.pass() ? Ink::plain : Ink::fail, options);
  };
  for (const TensorDiff& pair : forward ? layer.forward : layer.backward) add(pair);
  for (const TensorDiff& pair : layer.state) {
    const bool gradient = any_of(pair).kind == Kind::parameter_grad;
    if (gradient ? !forward : forward && !pair.pass()) add(pair);
  }
  if (forward && !layer.inputs_pass && !layer.container) {
    text += bullet(
        "its inputs differ although every recorded call before it agrees: look at what runs in between, or at "
        "what the program is fed",
        options);
  }
  return text + cause(layer, options) + '\n';
}

bool records_functions(const Trace& trace) {
  return std::any_of(trace.calls().begin(), trace.calls().end(), [](const Call& call) { return !call.has_path; });
}

std::string side(const char* name, const Trace& trace) {
  return fmt::format("{}  {} ({}, {} records)\n", name, printable(trace.path()), printable(trace.producer()),
                     trace.records().size());
}

std::string conclusion(const Report& report, const TextOptions& options) {
  if (report.compared == 0) {
    const std::string why =
        report.statistics > 0
            ? fmt::format("; {} tensors have statistics alone, of which {} differ", report.statistics, report.failed)
            : "";
    return paint("NOTHING COMPARED" + why, Ink::fail, options) + '\n';
  }
  if (report.agree()) {
    return paint(fmt::format("AGREES: {} tensors within tolerance", report.compared), Ink::pass, options) + '\n';
  }
  return paint(fmt::format("DIFFERS: {} of {} tensors", report.failed, std::max(report.compared, report.failed)),
               Ink::fail, options) +
         '\n';
}

}  // namespace

std::string structure(const Report& report, const TextOptions& options) {
  const bool roots = many_roots(report);
  std::vector<std::string> renamed, fused, only_ref, only_test, functions_ref, functions_test;
  // Names repeat in later steps, and where a module is called again.
  std::set<std::pair<const void*, std::string>> seen;
  const auto add = [&](std::vector<std::string>& list, const std::string& text) {
    if (seen.emplace(&list, text).second) list.push_back(text);
  };
  for (const LayerDiff& layer : report.layers) {
    if (layer.match == Match::only_ref && !layer.container) {
      add(layer.ref->has_path ? only_ref : functions_ref, layer_title(*layer.ref, roots));
    } else if (layer.match == Match::only_test && !layer.container) {
      add(layer.test->has_path ? only_test : functions_test, layer_title(*layer.test, roots));
    } else if (layer.match == Match::fused) {
      std::vector<std::string> parts;
      for (const Call* call : layer.fused) parts.push_back(layer_name(*call, roots));
      parts.push_back(layer_name(layer.fused_in_ref ? *layer.ref : *layer.test, roots));
      add(fused, fmt::format("{} {} {}{}", fmt::join(parts, " + "), options.unicode ? "→" : "->",
                             layer_title(layer.fused_in_ref ? *layer.test : *layer.ref, roots),
                             layer.fused_in_ref ? "" : " of the reference"));
    } else if (layer.match == Match::order && layer.ref->has_path && layer.test->has_path) {
      add(renamed, layer_name(*layer.ref, roots) + (options.unicode ? " → " : " -> ") + layer_name(*layer.test, roots));
    }
  }
  std::string text;
  const auto print = [&](const char* title, const std::vector<std::string>& names, const char* why = "") {
    if (names.empty()) return;
    const std::string list = *why ? why : listed(names, options.all);
    text += wrapped(fmt::format("{} ({}): {}", title, names.size(), list), 2, options);
  };
  print("Renamed", renamed);
  print("Fused", fused);
  print("Only in the reference", only_ref);
  print("Only in the test", only_test);
  print("Functions in the reference alone", functions_ref,
        records_functions(*report.test) ? "" : "the test's trace has modules alone");
  print("Functions in the test alone", functions_test,
        records_functions(*report.ref) ? "" : "the reference's trace has modules alone");
  return text.empty() ? text : text + '\n';
}

static std::string state_divergence(const Report& report, const TextOptions& options) {
  const StateDiff& state = report.state[static_cast<size_t>(*report.first_state)];
  std::string text =
      paint(fmt::format("First state that differs: {}, step {}", state_name(state, many_roots(report)), state.step),
            Ink::heading, options) +
      '\n';
  text += bullet(tensor_line(state.tensor), options);
  for (const Hint& hint : state.hints)
    text += paint(bullet("hint: " + printable(hint.text), options), Ink::heading, options);
  return text + '\n';
}

std::string divergences(const Report& report, const TextOptions& options) {
  std::string text;
  if (report.first_forward) text += divergence(report, *report.first_forward, true, options);
  if (report.first_backward) text += divergence(report, *report.first_backward, false, options);
  if (!report.first_state) return text;
  const auto layer = report.first_forward ? report.first_forward : report.first_backward;
  const bool before = layer && report.state[static_cast<size_t>(*report.first_state)].step <
                                   report.layers[static_cast<size_t>(*layer)].step;
  return before ? state_divergence(report, options) + text : text + state_divergence(report, options);
}

std::string text_report(const Report& report, const TextOptions& options) {
  std::string text = side("reference", *report.ref) + side("test     ", *report.test) + '\n';
  text += layer_table(report, options) + state_table(report, options) + structure(report, options) +
          divergences(report, options);
  for (const std::string& note : report.notes) text += wrapped("note: " + printable(note), 6, options);
  return text + conclusion(report, options);
}

}  // namespace hb::layer_diff
