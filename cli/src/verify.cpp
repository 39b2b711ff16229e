// halfbridge verify REF -- PROGRAM [ARGS...]
#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <halfbridge/diff/procedure.h>
#include <halfbridge/error.h>

#include "command.h"
#include "diff.h"
#include "process.h"
#include "temporary.h"

namespace hb::cli {
namespace {

using namespace hb::layer_diff;

constexpr const char* kHelp =
    R"(REF is a trace of the reference (LibTorch, Python). PROGRAM, built with Halfbridge and otherwise unchanged, is run while its layers
are recorded, at the steps that REF holds; dropout takes its masks from REF where it has them. Then the five steps of a port are
gone through: same inputs, same mode (train or eval), same weights, same outputs, and layer by layer.)";

constexpr const char* kExamples = R"(Examples:
  halfbridge verify reference/ -- ./port --images digits.csv
  halfbridge verify reference/ --html page.html -- ./port
  halfbridge verify reference/ --keep trace/ -- ./port      the program's own trace stays in trace/

The first step that differs is the one to mend: what comes after it follows from it.

Exit status: 0 all agree, 1 some differ, 2 could not run.)";

void record(const std::vector<std::string>& program, const Trace& reference, const std::string& folder) {
  std::set<int64_t> steps;
  for (const Record& r : reference.records()) steps.insert(r.step);
  std::map<std::string, std::string> variables = {{"HALFBRIDGE_TRACE", folder},
                                                  {"HALFBRIDGE_TRACE_STEPS", fmt::format("{}", fmt::join(steps, ","))}};
  const auto is_mask = [](const Record& r) { return r.kind == Kind::mask; };
  if (std::any_of(reference.records().begin(), reference.records().end(), is_mask))
    variables["HALFBRIDGE_TRACE_MASKS"] = reference.path();
  const int status = run_program(program, variables);
  HB_CHECK(status == 0, "[verify] '", program[0], "' ended with status ", status);
  HB_CHECK(std::filesystem::exists(folder) && !std::filesystem::is_empty(folder), "[verify] '", program[0],
           "' left no trace: is it linked with Halfbridge?");
}

std::string steps_text(const Report& report) {
  std::string text;
  int number = 0;
  for (const ProcedureStep& step : five_steps(report)) {
    const char* state = step.state == ProcedureStep::State::agrees    ? "ok"
                        : step.state == ProcedureStep::State::differs ? "DIFFERS"
                                                                      : "unknown";
    text += fmt::format("{}  {:<8} {:<8} {}\n", ++number, step.name, state, step.text);
  }
  return text + '\n';
}

}  // namespace

void add_verify(CLI::App& app, int& exit) {
  struct Options {
    DiffOptions diff;
    std::string ref, keep;
    std::vector<std::string> program;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "Run a program and check each layer of it against a reference");
  command->footer(std::string(kHelp) + "\n\n" + kExamples);
  command->add_option("ref", options->ref, "Trace of the reference")->required()->type_name("REF");
  command->add_option("program", options->program, "The program and its arguments, after --")
      ->required()
      ->type_name("PROGRAM");
  command->add_option("--keep", options->keep, "Keep the program's trace in this folder")->type_name("DIR");
  add_diff_options(*command, options->diff);
  command->callback([options, &exit] {
    std::optional<TemporaryFolder> temporary;
    if (options->keep.empty()) temporary.emplace("halfbridge-verify");
    const std::string folder = temporary ? temporary->path() : options->keep;
    const auto reference = Trace::open(options->ref);
    record(options->program, *reference, folder);
    exit = run_diff(reference, Trace::open(folder), options->diff, steps_text);
  });
}

}  // namespace hb::cli
