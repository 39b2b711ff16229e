#include <halfbridge/distributed/process_group_mpi.h>

#include <algorithm>

#include "distributed/modules.h"
#include "distributed/work_queue.h"

namespace hb::distributed {

ProcessGroupMPI::ProcessGroupMPI(std::shared_ptr<Engine> engine, int rank, int size)
    : EngineBackend(rank, size, make_intrusive<Backend::Options>(MPI_BACKEND_NAME)) {
  start(std::move(engine), nullptr);
}

ProcessGroupMPI::~ProcessGroupMPI() = default;

intrusive_ptr<ProcessGroupMPI> ProcessGroupMPI::createProcessGroupMPI(std::vector<int> ranks) {
  auto engine = mpi_engine(ranks);
  if (!engine) return nullptr;
  const int rank = engine->rank(), size = engine->size();
  return intrusive_ptr<ProcessGroupMPI>(new ProcessGroupMPI(std::move(engine), rank, size));
}

intrusive_ptr<Backend> ProcessGroupMPI::split(const intrusive_ptr<Store>&, const std::vector<int>& ranks,
                                              const intrusive_ptr<Backend::Options>& opts) {
  if (std::find(ranks.begin(), ranks.end(), rank_) == ranks.end()) return nullptr;
  auto engine = split_mpi_engine(queue_->engine(), ranks);
  const int rank = engine->rank(), size = engine->size();
  auto group = intrusive_ptr<ProcessGroupMPI>(new ProcessGroupMPI(std::move(engine), rank, size));
  if (opts) group->setTimeout(opts->timeout);
  return group;
}

}  // namespace hb::distributed
