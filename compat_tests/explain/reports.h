// Comparisons for tests, and what to print when one fails.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>

#include <halfbridge/diff/compare.h>
#include <halfbridge/diff/explain.h>

#include "describe.h"

using hb::layer_diff::Report;
using hb::layer_diff::Verdict;

inline std::string trace_folder(const std::string& name) { return testing::TempDir() + "explain/" + name; }

inline Report explained(const std::string& ref, const std::string& test, double tolerance = 1e-3) {
  hb::layer_diff::CompareOptions options;
  options.tolerance = {tolerance, tolerance};
  Report report = hb::layer_diff::compare(hb::layer_diff::Trace::open(ref), hb::layer_diff::Trace::open(test), options);
  hb::layer_diff::explain(report);
  return report;
}

inline std::string describe(const Report& report) {
  std::ostringstream text;
  for (const auto& layer : report.layers) {
    if (!layer.ref) continue;
    text << layer.ref->path << " " << layer.ref->type << (layer.outputs_pass ? "" : " OUT")
         << (layer.gradients_pass ? "" : " GRAD") << " " << hb::layer_diff::name_of(layer.verdict) << ": "
         << layer.verdict_reason << "\n";
    for (const auto& hint : layer.hints)
      text << "    " << hint.cause << ": " << hint.text << " (" << hint.max_abs << ")\n";
  }
  for (const auto& state : report.state) {
    const bool passes = state.tensor.pass();
    if (!passes)
      text << "step " << state.step << " " << hb::trace::name_of(state.kind) << " " << state.path << "." << state.name
           << " FAILS " << state.tensor.problem << " " << state.tensor.note << "\n";
    for (const auto& hint : state.hints) text << "    " << hint.cause << ": " << hint.text << "\n";
  }
  return text.str();
}
