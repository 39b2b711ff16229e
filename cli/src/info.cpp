#include <fmt/format.h>
#include <halfbridge/dtype.h>
#include <halfbridge/machine.h>
#include <halfbridge/numerics.h>
#include <halfbridge/threads.h>
#include <halfbridge/version.h>

#include "command.h"

namespace hb::cli {

void add_info(CLI::App& app, int& exit) {
  CLI::App* command = app.add_subcommand("info", "Print the version and what it uses on this machine");
  command->callback([&exit] {
    const Machine here = machine();
    fmt::print("halfbridge       {}\n", HALFBRIDGE_VERSION);
    fmt::print("instruction set  {} (HALFBRIDGE_ISA=v3 restricts it to AVX2, v4 to AVX-512)\n", here.instruction_set);
    fmt::print("threads          {} (OMP_NUM_THREADS)\n", get_num_threads());
    fmt::print("oneDNN           {}\n", here.onednn);
    fmt::print("Winograd         {} for 3x3 convolutions\n", allow_winograd() ? "on" : "off");
    std::string dtypes;
#define HB_NAME(T, Name) dtypes += std::string(" ") + toString(ScalarType::Name);
    HB_FORALL_DTYPES(HB_NAME)
#undef HB_NAME
    fmt::print("dtypes          {}\n", dtypes);
    exit = kAgrees;
  });
}

}  // namespace hb::cli
