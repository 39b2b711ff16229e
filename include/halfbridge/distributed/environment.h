#pragma once
// Where a launcher has put this process: `halfbridge run`, torchrun, mpirun or Slurm.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <halfbridge/macros.h>

namespace hb::distributed {

/// One process among those that train together.
struct HB_API Placement {
  int rank = 0, world_size = 1;        // among all
  int local_rank = 0, local_size = 1;  // among those of the same host
  std::string master_address;          // where rank 0 listens; empty where the launcher does not say
  int master_port = 29500;
  std::string launcher;  // "torchrun", "Open MPI", "MPICH", "Slurm", or "none"
};

/// What the variables of the environment say, in this order: torchrun's (RANK, WORLD_SIZE, LOCAL_RANK, ...), those of
/// a Slurm step (where mpirun runs within one, mpirun's), Open MPI's, MPICH's. MASTER_ADDR and MASTER_PORT count with
/// each of them; without them, processes that are all on one host meet at 127.0.0.1, and those of a Slurm step on its
/// first host, at a port that follows from the numbers of job and step. Without any launcher: one process. Throws
/// ValueError for variables that are not numbers or contradict each other.
HB_API Placement placement_from_environment();
/// The same of other variables: `variable(name)` gives a value or nothing.
HB_API Placement placement_from(const std::function<std::optional<std::string>(const std::string&)>& variable);

}  // namespace hb::distributed
