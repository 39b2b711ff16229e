#pragma once
// The group of all processes of a run.

#include <chrono>
#include <optional>
#include <string>

#include <halfbridge/distributed/environment.h>
#include <halfbridge/distributed/process_group.h>

namespace hb::distributed {

struct InitOptions {
  /// The deadline of each collective.
  std::chrono::milliseconds timeout = kProcessGroupDefaultTimeout;
  /// How long the processes wait for each other at the beginning.
  std::chrono::milliseconds store_timeout = Store::kDefaultTimeout;
  /// Where this process stands; by default what the environment says (placement_from_environment()).
  std::optional<Placement> placement;
};

/// Joins the processes that one launcher started (`halfbridge run`, torchrun, mpirun, Slurm); a program that no
/// launcher started is a group of one. The back end is "gloo" or "mpi" for tensors on the CPU, "nccl" for those on
/// GPUs (and Gloo for those on the CPU), or "auto": MPI where mpirun started processes on several hosts and nothing
/// says where rank 0 is, else Gloo. All processes call it, once. Throws ValueError for other names, DistStoreError
/// where processes do not come in time.
HB_API void init(const std::string& backend = "auto", const InitOptions& options = {});
HB_API bool is_initialized();
/// The group. Throws hb::Error before init().
HB_API intrusive_ptr<ProcessGroup> default_group();
/// Ranks count from 0. Throw hb::Error before init().
HB_API int get_rank();
HB_API int get_group_size();
/// Where this process stands. Throws hb::Error before init().
HB_API const Placement& placement();
/// Leaves the group, so that init() may be called again. Does nothing without one.
HB_API void destroy();

}  // namespace hb::distributed
