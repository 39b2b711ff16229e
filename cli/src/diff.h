// Comparing two traces and writing what was found, as `diff` and `verify` do.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <halfbridge/diff/report.h>
#include <CLI/CLI.hpp>

namespace hb::cli {

struct DiffOptions {
  std::string json, junit, html, bundle;
  std::vector<std::string> maps, tolerances;
  layer_diff::Tolerance tolerance;
  bool all = false, plain = false, histograms = false, explain_all = false, no_explain = false;
};

/// Adds everything but the two traces to a command.
void add_diff_options(CLI::App& command, DiffOptions& options);

/// Compares, explains, and writes what was asked for; `preface` gives what stands before the table. Returns the exit
/// status.
int run_diff(std::shared_ptr<const layer_diff::Trace> ref, std::shared_ptr<const layer_diff::Trace> test,
             const DiffOptions& options, const std::function<std::string(const layer_diff::Report&)>& preface = {});

}  // namespace hb::cli
