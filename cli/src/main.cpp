#include <halfbridge/version.h>

#include <cstdio>
#include <exception>

#include "command.h"

int main(int argc, char** argv) {
  using namespace hb::cli;
  CLI::App app{"Halfbridge: compare runs layer by layer, convert checkpoints, plan a port, choose a loss scale.",
               "halfbridge"};
  app.set_version_flag("--version", "halfbridge " HALFBRIDGE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 agrees or done, 1 differs, 2 could not run. `halfbridge COMMAND --help` explains a command.");
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
