#include <halfbridge/version.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "command.h"

namespace {

/// What was wrong with the command line, with the command that it was about: "halfbridge diff: REF is required".
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string command = app->get_name(), text = error.what();
  const CLI::App* last = app;
  for (auto read = app->get_subcommands(); !read.empty(); read = last->get_subcommands()) {
    last = read.front();
    command += ' ' + last->get_name();
  }
  const std::vector<std::string> unknown = app->remaining(true);
  if (error.get_name() == "RequiredError" && !unknown.empty()) text = "'" + unknown.front() + "' is not known here";
  return command + ": " + text + "\n`" + command + " --help` explains what it takes.\n";
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hb::cli;
  CLI::App app{"Halfbridge: compare runs layer by layer, convert checkpoints, plan a port, choose a loss scale.",
               "halfbridge"};
  app.set_version_flag("--version", "halfbridge " HALFBRIDGE_VERSION);
  app.require_subcommand(1);
  app.failure_message(usage_error);
  app.footer(
      "Exit status: 0 done, and what was compared agrees; 1 something differs; 2 could not run.\n`halfbridge COMMAND "
      "--help` explains a command.");
  int exit = kAgrees;
  add_checkpoint(app, exit);
  add_diff(app, exit);
  add_trace(app, exit);
  add_verify(app, exit);
  add_devices(app, exit);
  add_graph_diff(app, exit);
  add_info(app, exit);
  add_port(app, exit);
  add_run(app, exit);
  add_amp_report(app, exit);
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return kCouldNotRun;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    // --help and --version come as errors of code 0.
    return app.exit(e) == 0 ? kAgrees : kCouldNotRun;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "halfbridge: %s\n", e.what());
    return kCouldNotRun;
  }
  return exit;
}
