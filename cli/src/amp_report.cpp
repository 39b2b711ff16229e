// halfbridge amp-report -- PROGRAM [ARGS...]
#include <filesystem>
#include <iostream>

#include <halfbridge/error.h>

#include "amp_report/report.h"
#include "command.h"
#include "output.h"
#include "process.h"
#include "temporary.h"
#include "terminal.h"

namespace hb::cli {
namespace {

constexpr const char* kHelp =
    R"(Runs PROGRAM and counts how large its gradients are, layer by layer: those of parameters and of layers' outputs, without the loss
scale. PROGRAM must be built with Halfbridge and is otherwise unchanged. A short run in float32 tells most. To record a run of your
own, use HALFBRIDGE_AMP_REPORT=run.gradients ./program, then --from run.gradients.

fp16 has no numbers below 2^-24 (2^-25 and less become zero), fewer digits below 2^-14, and is infinite from 65520 on. The advised
scale is the power of two with which nothing overflows and the fewest gradients are below 2^-24; among equals, the one nearest to 1.)";

constexpr const char* kExamples = R"(Examples:
  halfbridge amp-report -- ./train --steps 50             prints a table and the scale
  halfbridge amp-report --html page.html -- ./train       with a histogram per layer
  halfbridge amp-report --headroom 2 --from run.gradients room for gradients 4 times as large

Exit status: 0 done, 2 could not run.)";

struct Options {
  std::vector<std::string> program;
  std::string from, keep, json, html;
  int headroom = 0;
  bool all = false, plain = false;
};

void record(const std::vector<std::string>& program, const std::string& file) {
  const int status = run_program(program, {{"HALFBRIDGE_AMP_REPORT", file}});
  HB_CHECK(status == 0, "[amp-report] '", program[0], "' ended with status ", status);
  HB_CHECK(std::filesystem::exists(file), "[amp-report] '", program[0],
           "' left no record: is it linked with Halfbridge, and does it make a module?");
}

trace::GradientRecord record_of(const Options& options) {
  HB_CHECK(options.program.empty() != options.from.empty(),
           "[amp-report] expected a program (after --) or --from FILE, one of them");
  if (!options.from.empty()) return trace::GradientRecord::load(options.from);
  const TemporaryFolder folder("halfbridge-amp-report");
  const std::string file = options.keep.empty() ? folder.path() + "/run.gradients" : options.keep;
  record(options.program, file);
  return trace::GradientRecord::load(file);
}

void run(const Options& options) {
  const auto report = amp_report::make_report(record_of(options), options.headroom);
  if (!options.json.empty()) write_output(options.json, amp_report::json(report));
  if (!options.html.empty()) write_output(options.html, amp_report::html(report));
  // What goes to the standard output stands alone.
  if (options.json == "-" || options.html == "-") return;
  layer_diff::TextOptions text = terminal(options.plain);
  text.all = options.all;
  write_output("-", amp_report::text(report, text));
}

}  // namespace

void add_amp_report(CLI::App& app, int& exit) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("amp-report", "Run a program and advise a loss scale from its gradients");
  command->footer(std::string(kHelp) + "\n\n" + kExamples);
  command->add_option("PROGRAM", options->program, "The program and its arguments, after --")->type_name("");
  command->add_option("--from", options->from, "Read this record instead of running a program")->type_name("FILE");
  command->add_option("--keep", options->keep, "Keep the record in this file")->type_name("FILE");
  command->add_option("--headroom", options->headroom, "Powers of two to leave above the largest gradient")
      ->type_name("N")
      ->check(CLI::Range(0, 32));
  command->add_flag("--all", options->all, "List every tensor instead of layers");
  command->add_flag("--plain", options->plain, "No colours, only ASCII");
  command->add_option("--json", options->json, "Write everything as JSON to FILE (-: the standard output)")
      ->type_name("FILE");
  command->add_option("--html", options->html, "Write one self-contained page for the browser")->type_name("FILE");
  command->callback([options, &exit] {
    run(*options);
    exit = kAgrees;
  });
}

}  // namespace hb::cli
