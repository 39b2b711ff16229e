// halfbridge verify REF -- PROGRAM [ARGS...]
#include <optional>

#include "command.h"
#include "diff.h"
#include "temporary.h"
#include "traced_run.h"

namespace hb::cli {
namespace {

using namespace hb::layer_diff;

constexpr const char* kHelp =
    R"(Runs PROGRAM, records its layers at the steps that REF holds, and compares them with REF, a trace of the reference (LibTorch or
Python). PROGRAM must be built with Halfbridge and is otherwise unchanged. Five checks follow in this order: same inputs, same mode
(train or eval), same weights, same outputs, same layers. Dropout uses the masks of REF where it has them.)";

constexpr const char* kExamples = R"(Examples:
  halfbridge verify reference/ -- ./port --images digits.csv
  halfbridge verify reference/ --html page.html -- ./port
  halfbridge verify reference/ --keep trace/ -- ./port      keeps the program's own trace in trace/

Fix the first check that differs: the later ones follow from it.

Exit status: 0 all agree, 1 some differ, 2 could not run.)";

}  // namespace

void add_verify(CLI::App& app, int& exit) {
  struct Options {
    DiffOptions diff;
    std::string ref, keep;
    std::vector<std::string> program;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "Run a program and check each of its layers against a reference");
  command->footer(std::string(kHelp) + "\n\n" + kExamples);
  command->add_option("REF", options->ref, "Trace of the reference")->required()->type_name("");
  command->add_option("PROGRAM", options->program, "The program and its arguments, after --")
      ->required()
      ->type_name("");
  command->add_option("--keep", options->keep, "Keep the program's trace in this folder")->type_name("DIR");
  add_diff_options(*command, options->diff);
  command->callback([options, &exit] {
    std::optional<TemporaryFolder> temporary;
    if (options->keep.empty()) temporary.emplace("halfbridge-verify");
    const std::string folder = temporary ? temporary->path() : options->keep;
    const auto reference = Trace::open(options->ref);
    const auto own = traced_run("verify", options->program, folder, reference.get());
    exit = run_diff(reference, own, options->diff, steps_text);
  });
}

}  // namespace hb::cli
