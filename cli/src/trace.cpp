// halfbridge trace show
#include <fmt/format.h>
#include <halfbridge/diff/trace.h>
#include <halfbridge/diff/trace_text.h>

#include <iostream>
#include <memory>

#include "command.h"
#include "terminal.h"

namespace hb::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  halfbridge trace show run/                           every tensor: layer, kind, dtype, shape
  halfbridge trace show run/ --layer 'layer4.*'        some layers; * and ? in paths, or a type for functions
  halfbridge trace show run/ --layer fc --values 8     with the first eight elements
  halfbridge trace show run/ --stats                   with minimum, maximum, mean, standard deviation, NaN and inf
  halfbridge trace show activations.safetensors --json any safetensors file)";

}  // namespace

void add_trace(CLI::App& app, int& exit) {
  CLI::App* command = app.add_subcommand("trace", "Inspect a trace");
  command->require_subcommand(1);
  CLI::App* show = command->add_subcommand("show", "List what a trace recorded");
  show->footer(kExamples);
  struct Options {
    std::string path;
    layer_diff::TraceTextOptions text;
    bool plain = false, json = false;
  };
  auto options = std::make_shared<Options>();
  show->add_option("TRACE", options->path, "A folder, one of its files, or any safetensors file")
      ->required()
      ->type_name("");
  show->add_option("--layer", options->text.layer, "Only layers whose path or type matches")->type_name("PATTERN");
  show->add_option("--values", options->text.values, "Print the first N elements of each tensor")
      ->type_name("N")
      ->check(CLI::Range(0, 10000));
  show->add_flag("--stats", options->text.statistics, "Print statistics; computed if the trace has none");
  show->add_flag("--json", options->json, "Print one JSON object per record and line");
  show->add_flag("--plain", options->plain, "No colours, only ASCII");
  show->callback([options, &exit] {
    const auto trace = layer_diff::Trace::open(options->path);
    options->text.terminal = terminal(options->plain);
    std::cout << (options->json ? trace_json(*trace, options->text) : trace_text(*trace, options->text)) << std::flush;
    exit = kAgrees;
  });
}

}  // namespace hb::cli
