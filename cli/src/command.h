#pragma once
// The commands of the program. Each adds itself to the application, and sets the exit status when it is the one that
// runs: 0 agrees or done, 1 differs, 2 could not run. What cannot run throws.

#include <CLI/CLI.hpp>

namespace hb::cli {

enum Exit { kAgrees = 0, kDiffers = 1, kCouldNotRun = 2 };

void add_amp_report(CLI::App& app, int& exit);
void add_checkpoint(CLI::App& app, int& exit);
void add_devices(CLI::App& app, int& exit);
void add_diff(CLI::App& app, int& exit);
void add_graph_diff(CLI::App& app, int& exit);
void add_info(CLI::App& app, int& exit);
void add_verify(CLI::App& app, int& exit);
void add_port(CLI::App& app, int& exit);
void add_run(CLI::App& app, int& exit);
void add_trace(CLI::App& app, int& exit);

}  // namespace hb::cli
