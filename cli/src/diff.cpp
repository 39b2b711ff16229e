// halfbridge diff REF TEST
#include <iostream>

#include <halfbridge/diff/compare.h>
#include <halfbridge/diff/explain.h>
#include <halfbridge/diff/html.h>
#include <halfbridge/diff/output.h>

#include "command.h"
#include "diff.h"
#include "output.h"
#include "terminal.h"

namespace hb::cli {
namespace {

using namespace hb::layer_diff;

constexpr const char* kExamples =
    R"(REF is the trace of the reference (LibTorch or Python), TEST the one to check. Each is a folder that HALFBRIDGE_TRACE, hb::capture
or halfbridge_capture.py wrote, a single file of one, or any safetensors file; then both have to use the same names.

Layers are aligned by module path, then by type, shapes and order of calls. An element agrees when
|test - ref| <= atol + rtol * |ref|; for gradients atol is scaled down to the tensor's largest element.

Examples:
  halfbridge diff ref/ test/                        prints a table; exit status 1 if they differ
  halfbridge diff ref/ test/ --all                  lists every layer, not only the failing ones
  halfbridge diff ref/ test/ --tol 'layer4.*=1e-2'  more room for some layers
  halfbridge diff ref/ test/ --map backbone=body    the test calls `body` what the reference calls `backbone`
  halfbridge diff ref/ test/ --map '/h\.(\d+)\.(.*)/=layers.$1.$2'
  halfbridge diff ref/ test/ --json - | jq '.layers[.first_forward].ref.path'
  halfbridge diff ref/ test/ --bundle repro         writes the layer to blame as a C++ program
  halfbridge diff ref/ test/ --html page.html --junit tests.xml

To find a difference, use the same inputs, the same weights and eval mode, then compare. `first` marks the first layer in the
forward pass whose outputs differ, `first grad` the first in the backward pass whose gradients differ: later differences
usually follow from these. FAIL marks layers whose outputs differ, grad those of which only the gradients differ.

Exit status: 0 all agree, 1 some differ, 2 nothing could be compared.)";

}  // namespace

int run_diff(std::shared_ptr<const Trace> ref, std::shared_ptr<const Trace> test, const DiffOptions& options,
             const std::function<std::string(const Report&)>& preface) {
  CompareOptions compare_options;
  compare_options.tolerance = options.tolerance;
  compare_options.all_histograms = options.histograms;
  for (const std::string& text : options.maps) compare_options.maps.push_back(parse_path_map(text));
  for (const std::string& text : options.tolerances) compare_options.layers.push_back(parse_layer_tolerance(text));
  Report report = compare(std::move(ref), std::move(test), compare_options);
  ExplainOptions explain_options;
  explain_options.all_layers = options.explain_all;
  if (!options.no_explain) explain(report, explain_options);
  if (!options.bundle.empty()) {
    if (const auto id = layer_for_bundle(report))
      write_bundle(report, *id, options.bundle);
    else
      std::cerr << "halfbridge diff: every layer agrees, no bundle was written\n";
  }
  if (!options.json.empty()) write_output(options.json, json_report(report));
  if (!options.html.empty()) write_output(options.html, html_page(report));
  if (!options.junit.empty()) write_output(options.junit, junit_report(report));
  // What goes to the standard output stands alone.
  if (options.json != "-" && options.junit != "-" && options.html != "-") {
    TextOptions text = terminal(options.plain);
    text.all = options.all;
    if (preface) write_output("-", preface(report));
    write_output("-", text_report(report, text));
  }
  if (report.failed > 0) return kDiffers;
  return report.compared > 0 ? kAgrees : kCouldNotRun;
}

void add_diff_options(CLI::App& command, DiffOptions& options) {
  command.add_option("--atol", options.tolerance.atol, "Absolute tolerance")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--rtol", options.tolerance.rtol, "Relative tolerance")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--tol", options.tolerances,
                  "Tolerance of some layers: PATTERN=TOL or PATTERN=ATOL,RTOL; * and ? match in paths")
      ->type_name("PATTERN=TOL")
      ->allow_extra_args(false);
  command
      .add_option("--map", options.maps,
                  "A module with another path in TEST: REF=TEST (and everything below it), or /REGEX/=TEST")
      ->type_name("REF=TEST")
      ->allow_extra_args(false);
  command.add_flag("--all", options.all, "List every layer and optimizer state");
  command.add_flag("--plain", options.plain, "No colours, only ASCII; the default if the output is not a terminal");
  command.add_flag("--histograms", options.histograms,
                   "Histograms and heat maps of all tensors in JSON and HTML, not only of failing ones");
  command.add_flag("--explain-all", options.explain_all, "Split the error of layers that agree, too");
  command.add_flag("--no-explain", options.no_explain, "Only compare: rerun no layer and search for no cause");
  command.add_option("--bundle", options.bundle, "Write the layer to blame as a separate C++ program")
      ->type_name("DIR");
  command.add_option("--json", options.json, "Write everything as JSON to FILE (-: the standard output)")
      ->type_name("FILE");
  command.add_option("--html", options.html, "Write one self-contained page for the browser")->type_name("FILE");
  command.add_option("--junit", options.junit, "Write JUnit XML")->type_name("FILE");
}

void add_diff(CLI::App& app, int& exit) {
  struct Options {
    std::string ref, test;
    DiffOptions diff;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("diff", "Compare two traces layer by layer, element by element");
  command->footer(kExamples);
  command->add_option("REF", options->ref, "Trace of the reference")->required()->type_name("");
  command->add_option("TEST", options->test, "Trace to check")->required()->type_name("");
  add_diff_options(*command, options->diff);
  command->callback([options, &exit] {
    auto ref = Trace::open(options->ref);
    exit = run_diff(std::move(ref), Trace::open(options->test), options->diff);
  });
}

}  // namespace hb::cli
