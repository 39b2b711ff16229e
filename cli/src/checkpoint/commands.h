#pragma once
// The commands below `halfbridge checkpoint`, one file each.

#include "../command.h"

namespace hb::cli::checkpoint {

void add_show(CLI::App& app, int& exit);
void add_convert(CLI::App& app, int& exit);
void add_diff(CLI::App& app, int& exit);

}  // namespace hb::cli::checkpoint
