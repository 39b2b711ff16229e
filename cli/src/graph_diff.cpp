// halfbridge graph-diff -- PROGRAM [ARGS...]
#include <filesystem>
#include <optional>
#include <string>

#include <halfbridge/error.h>

#include "command.h"
#include "diff.h"
#include "temporary.h"
#include "traced_run.h"

namespace hb::cli {
namespace {

constexpr const char* kHelp =
    R"(Runs PROGRAM twice and records its layers: first with the steps of hb::graph::compile and TrainOneStep::capture() run eagerly,
then with these steps captured and replayed. PROGRAM must be built with Halfbridge and is otherwise unchanged. The runs are then
compared layer by layer: values, gradients, parameters and optimizer states must be equal.)";

constexpr const char* kExamples = R"(Examples:
  halfbridge graph-diff -- ./train
  HALFBRIDGE_GRAPH=1 halfbridge graph-diff -- ./train    captures training networks, too
  HALFBRIDGE_TRACE_LAYERS='encoder.*' halfbridge graph-diff --steps 0-40 -- ./train

PROGRAM must draw the same random numbers in both runs, so seed them. The first steps run eagerly in both.

Exit status: 0 all agree, 1 some differ, 2 could not run or nothing was replayed.)";

int compare_replays(const std::vector<std::string>& program, const std::string& steps, const std::string& folder,
                    const DiffOptions& options) {
  namespace fs = std::filesystem;
  fs::create_directories(folder);
  const auto run = [&](const char* name, const char* replays) {
    return traced_run("graph-diff", program, (fs::path(folder) / name).string(), nullptr,
                      {{"HALFBRIDGE_TRACE_STEPS", steps}, {"HALFBRIDGE_TRACE_REPLAYS", replays}});
  };
  const auto eager = run("eager", "0"), replayed = run("replayed", "1");
  HB_CHECK(replayed->end() != "nothing was replayed", "[graph-diff] '", program[0], "': nothing was replayed in steps ",
           steps,
           ": expected a program that calls a captured step four times or more (HALFBRIDGE_GRAPH=1 captures the ",
           "training layer's)");
  return run_diff(eager, replayed, options);
}

}  // namespace

void add_graph_diff(CLI::App& app, int& exit) {
  struct Options {
    DiffOptions diff;
    std::string keep, steps = "0-5";
    std::vector<std::string> program;
  };
  auto options = std::make_shared<Options>();
  options->diff.tolerance = {0, 0};
  CLI::App* command =
      app.add_subcommand("graph-diff", "Run a program eagerly and with graphs and compare the runs layer by layer");
  command->footer(std::string(kHelp) + "\n\n" + kExamples);
  command->add_option("PROGRAM", options->program, "The program and its arguments, after --")
      ->required()
      ->type_name("");
  command->add_option("--keep", options->keep, "Keep both traces in this folder")->type_name("DIR");
  command->add_option("--steps", options->steps, "Optimizer steps to record (0-5)")->type_name("STEPS");
  add_diff_options(*command, options->diff);
  command->callback([options, &exit] {
    std::optional<TemporaryFolder> temporary;
    if (options->keep.empty()) temporary.emplace("halfbridge-graph-diff");
    exit =
        compare_replays(options->program, options->steps, temporary ? temporary->path() : options->keep, options->diff);
  });
}

}  // namespace hb::cli
