#include <halfbridge/distributed/environment.h>
#include <halfbridge/error.h>

#include <charconv>
#include <cstdlib>
#include <limits>

namespace hb::distributed {

namespace {

using Variable = std::function<std::optional<std::string>(const std::string&)>;

constexpr int kMost = 1 << 24;

std::optional<int> number(const Variable& variable, const std::string& name, int least, int most) {
  const auto text = variable(name);
  if (!text || text->empty()) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < least || value > most)
    detail::fail<ValueError>("[distributed] expected the variable ", name, " to be a number from ", least, " to ", most,
                             ", got '", *text, "'");
  return value;
}

struct Names {
  const char *launcher, *rank, *world, *local_rank, *local_size;
};
constexpr Names kTorchrun{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Names kOpenMpi{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                         "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Names kMpich{"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
// Slurm counts a host's tasks as text, so there is no name for it.
constexpr Names kSlurm{"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr};

// Slurm's batch script has SLURM_PROCID too, and is no task of a step. mpirun within a job runs as a step of one task
// per host, and its ranks inherit that step's variables: they are of the step only if it counts them as mpirun does.
bool is_task_of_slurm(const Variable& variable) {
  if (!variable(kSlurm.rank) || !variable(kSlurm.world)) return false;
  if (variable(kOpenMpi.world)) return false;
  return !variable(kMpich.world) ||
         (variable(kMpich.rank) == variable(kSlurm.rank) && variable(kMpich.world) == variable(kSlurm.world));
}

const Names* launcher_of(const Variable& variable) {
  if (variable(kTorchrun.world)) return &kTorchrun;
  if (is_task_of_slurm(variable)) return &kSlurm;
  for (const Names* names : {&kOpenMpi, &kMpich})
    if (variable(names->world)) return names;
  return nullptr;
}

// The first host of a Slurm list: "rack[2-3]node[03-05,9],other" begins with rack2node03.
std::string first_host(const std::string& list) {
  std::string host;
  for (size_t i = 0; i < list.size() && list[i] != ','; ++i) {
    if (list[i] != '[') {
      host += list[i];
      continue;
    }
    const size_t end = list.find_first_of(",-]", i + 1), close = list.find(']', i + 1);
    if (close == std::string::npos)
      detail::fail<ValueError>("[distributed] expected a list of hosts as Slurm writes it, got '", list, "'");
    host += list.substr(i + 1, end - i - 1);
    i = close;
  }
  return host;
}

// How many tasks a node has by Slurm's counts: "2(x3),1" are 2, 2, 2, 1.
std::optional<int> tasks_of_node(const Variable& variable) {
  const auto counts = variable("SLURM_STEP_TASKS_PER_NODE");
  const auto node = number(variable, "SLURM_NODEID", 0, kMost);
  if (!counts || !node) return std::nullopt;
  int before = 0;
  for (const char *at = counts->c_str(), *end = at + counts->size(); at < end;) {
    int tasks = 0, nodes = 1;
    auto read = std::from_chars(at, end, tasks);
    if (read.ec == std::errc() && end - read.ptr > 2 && read.ptr[0] == '(' && read.ptr[1] == 'x') {
      read = std::from_chars(read.ptr + 2, end, nodes);
      if (read.ec == std::errc() && (read.ptr == end || *read.ptr++ != ')')) nodes = 0;
    }
    if (read.ec != std::errc() || tasks < 1 || nodes < 1 || nodes > kMost || (read.ptr < end && *read.ptr != ','))
      detail::fail<ValueError>("[distributed] expected the variable SLURM_STEP_TASKS_PER_NODE as \"2(x3),1\", got '",
                               *counts, "'");
    if (*node < before + nodes) return tasks;
    before += nodes;
    at = read.ptr + 1;
  }
  return std::nullopt;
}

void read(const Variable& variable, const Names& names, Placement& place) {
  const auto rank = number(variable, names.rank, 0, kMost), world = number(variable, names.world, 1, kMost);
  if (!rank || !world)
    detail::fail<ValueError>("[distributed] expected both ", names.rank, " and ", names.world,
                             " in the environment, got only ", rank ? names.rank : names.world);
  place.launcher = names.launcher;
  place.rank = *rank, place.world_size = *world;
  const auto local = number(variable, names.local_rank, 0, kMost);
  const auto size = names.local_size ? number(variable, names.local_size, 1, kMost) : tasks_of_node(variable);
  // torchrun's programs may be started by hand, with RANK and WORLD_SIZE alone: then they are on one host.
  const bool by_hand = !local && !size && &names == &kTorchrun;
  place.local_rank = by_hand ? place.rank : local.value_or(0);
  place.local_size = by_hand ? place.world_size : size.value_or(place.local_rank + 1);
  if (*rank >= *world || place.local_rank >= place.local_size || place.local_size > *world)
    detail::fail<ValueError>("[distributed] expected ranks below their number, got ", names.rank, " ", *rank, " of ",
                             *world, " and ", names.local_rank, " ", place.local_rank, " of ", place.local_size);
}

// Several steps of Slurm may share a host: each gets a port of its own, above those that programs ask for.
int port_of_slurm(const Variable& variable, int otherwise) {
  const auto job = number(variable, "SLURM_JOB_ID", 0, std::numeric_limits<int>::max());
  if (!job) return otherwise;
  const auto step = number(variable, "SLURM_STEP_ID", 0, std::numeric_limits<int>::max());
  return 10000 + static_cast<int>((*job * int64_t{31} + step.value_or(0)) % 20000);
}

}  // namespace

Placement placement_from(const Variable& variable) {
  Placement place;
  place.launcher = "none";
  const Names* names = launcher_of(variable);
  if (names) read(variable, *names, place);
  const bool slurm = names == &kSlurm;
  place.master_address = variable("MASTER_ADDR").value_or("");
  if (const auto port = number(variable, "MASTER_PORT", 0, 65535))
    place.master_port = *port;
  else if (slurm)
    place.master_port = port_of_slurm(variable, place.master_port);
  if (!place.master_address.empty()) return place;
  const auto hosts = variable("SLURM_STEP_NODELIST");
  if (slurm && hosts)
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
