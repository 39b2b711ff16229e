#include <halfbridge/distributed/environment.h>
#include <halfbridge/error.h>

#include <charconv>
#include <cstdlib>

namespace hb::distributed {

namespace {

using Variable = std::function<std::optional<std::string>(const std::string&)>;

std::optional<int> number(const Variable& variable, const std::string& name, int least, int most) {
  const auto text = variable(name);
  if (!text || text->empty()) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < least || value > most)
    throw ValueError(detail::str("[distributed] expected the variable ", name, " to be a number from ", least, " to ",
                                 most, ", got '", *text, "'"));
  return value;
}

constexpr int kMost = 1 << 24;

struct Names {
  const char *launcher, *rank, *world, *local_rank, *local_size;
};
// Slurm counts a host's tasks as text ("2(x3)"), so there is no name for it.
constexpr Names kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr},
};

// The first host of a Slurm list: "node[03-05,9],other" begins with node03.
std::string first_host(const std::string& list) {
  const size_t end = list.find_first_of(",[");
  if (end == std::string::npos || list[end] == ',') return list.substr(0, end);
  return list.substr(0, end) + list.substr(end + 1, list.find_first_of(",-]", end + 1) - end - 1);
}

void read(const Variable& variable, const Names& names, Placement& place) {
  const auto rank = number(variable, names.rank, 0, kMost), world = number(variable, names.world, 1, kMost);
  if (!rank || !world)
    throw ValueError(detail::str("[distributed] expected both ", names.rank, " and ", names.world,
                                 " in the environment, got only ", rank ? names.rank : names.world));
  place.launcher = names.launcher;
  place.rank = *rank, place.world_size = *world;
  const auto local = number(variable, names.local_rank, 0, kMost);
  const auto size = names.local_size ? number(variable, names.local_size, 1, kMost) : std::nullopt;
  // torchrun's programs may be started by hand, with RANK and WORLD_SIZE alone: then they are on one host.
  place.local_rank = local.value_or(place.rank);
  place.local_size = size.value_or(local ? *local + 1 : place.world_size);
  if (*rank >= *world || place.local_rank >= place.local_size || place.local_size > *world)
    throw ValueError(detail::str("[distributed] expected ranks below their number, got ", names.rank, " ", *rank,
                                 " of ", *world, " and ", names.local_rank, " ", place.local_rank, " of ",
                                 place.local_size));
}

}  // namespace

Placement placement_from(const Variable& variable) {
  Placement place;
  place.launcher = "none";
  for (const Names& names : kLaunchers) {
    const bool slurm = !names.local_size;  // its batch script has SLURM_PROCID too, and is no task of a step
    if (!variable(names.world) || (slurm && !variable(names.rank))) continue;
    read(variable, names, place);
    break;
  }
  place.master_address = variable("MASTER_ADDR").value_or("");
  if (const auto port = number(variable, "MASTER_PORT", 0, 65535)) place.master_port = *port;
  if (!place.master_address.empty()) return place;
  const auto hosts = variable("SLURM_STEP_NODELIST");
  if (place.launcher == "Slurm" && hosts)
    place.master_address = first_host(*hosts);
  else if (place.local_size == place.world_size)
    place.master_address = "127.0.0.1";
  return place;
}

Placement placement_from_environment() {
  return placement_from([](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  });
}

}  // namespace hb::distributed
