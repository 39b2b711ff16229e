#include <fmt/format.h>
#include <halfbridge/numerics.h>
#include <halfbridge/threads.h>

#include "command.h"

namespace hb::cli {

void add_info(CLI::App& app, int& exit) {
  CLI::App* command = app.add_subcommand("info", "Print the version and what this machine gives it.");
  command->callback([&exit] {
    fmt::print("halfbridge   {}\nthreads      {} (OMP_NUM_THREADS)\nWinograd     {} for 3x3 convolutions\n",
               HALFBRIDGE_VERSION, get_num_threads(), allow_winograd() ? "on" : "off");
    exit = kAgrees;
  });
}

}  // namespace hb::cli
