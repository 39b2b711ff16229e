#include <halfbridge/distributed/process_group.h>
#include <halfbridge/distributed/process_group_gloo.h>
#include <halfbridge/distributed/process_group_mpi.h>
#include <halfbridge/distributed/process_group_nccl.h>

namespace hb::distributed {

namespace {

intrusive_ptr<Backend> make_backend(ProcessGroup::BackendType type, const intrusive_ptr<Store>& store, int rank,
                                    int size, std::chrono::milliseconds timeout) {
  if (type == ProcessGroup::GLOO)
    return make_intrusive<ProcessGroupGloo>(store, rank, size, ProcessGroupGloo::Options::create(timeout));
  if (type == ProcessGroup::NCCL) {
    auto options = ProcessGroupNCCL::Options::create();
    options->timeout = timeout;
    return make_intrusive<ProcessGroupNCCL>(store, rank, size, options);
  }
  auto group = ProcessGroupMPI::createProcessGroupMPI();
  HB_CHECK(group->getRank() == rank && group->getSize() == size, "[new_process_group] expected rank ", rank, " of ",
           size, ", got rank ", group->getRank(), " of ", group->getSize(), " from MPI");
  group->setTimeout(timeout);
  return group;
}

}  // namespace

intrusive_ptr<ProcessGroup> new_process_group(const std::string& backend, const intrusive_ptr<Store>& store, int rank,
                                              int size, std::chrono::milliseconds timeout) {
  const auto type = ProcessGroup::strToBackendType(backend);
  HB_CHECK(type == ProcessGroup::GLOO || type == ProcessGroup::MPI || type == ProcessGroup::NCCL,
           "[new_process_group] expected gloo, mpi or nccl, got '", backend, "'");
  auto group = make_intrusive<ProcessGroup>(store, rank, size);
  group->setBackend(type == ProcessGroup::NCCL ? kCUDA : kCPU, type, make_backend(type, store, rank, size, timeout));
  group->setDefaultBackend(type);
  return group;
}

}  // namespace hb::distributed
