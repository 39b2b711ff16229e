#include <halfbridge/distributed/hash_store.h>
#include <halfbridge/distributed/init.h>
#include <halfbridge/distributed/prefix_store.h>
#include <halfbridge/distributed/process_group_gloo.h>
#include <halfbridge/distributed/tcp_store.h>

#include <unistd.h>

#include <cstdlib>
#include <mutex>

namespace hb::distributed {

namespace {

struct Current {
  std::mutex mutex;
  intrusive_ptr<ProcessGroup> group;
  intrusive_ptr<Store> store;
  Placement place;
  pid_t process = 0;  // which made the group: its children have no part in it
};
// Never destroyed: a process that ends waits for no other.
Current& current() {
  static auto& object = *new Current;
  return object;
}

void refuse(const std::string& backend) {
  if (backend == "hccl" || backend == "mccl")
    detail::fail<ValueError>("[init] '", backend,
                             "' is one of MindSpore's back ends: write \"nccl\" for tensors on GPUs, \"gloo\" or "
                             "\"mpi\" for tensors on the CPU, or \"auto\"");
  throw ValueError(
      detail::str("[init] expected the back end \"gloo\", \"mpi\", \"nccl\" or \"auto\", got '", backend, "'"));
}

std::string chosen(const std::string& backend, const Placement& place) {
  if (backend == "gloo" || backend == "mpi" || backend == "nccl") return backend;
  if (backend != "auto") refuse(backend);
  return place.master_address.empty() ? "mpi" : "gloo";
}

intrusive_ptr<Store> meeting_place(const Placement& place, std::chrono::milliseconds timeout) {
  if (place.world_size == 1) return make_intrusive<HashStore>();
  HB_CHECK(!place.master_address.empty(),
           "[init] expected the variable MASTER_ADDR, the address of rank 0's host: ", place.launcher,
           " started processes on several hosts");
  TCPStoreOptions options;
  // torchrun's agent listens on its own port, in PyTorch's protocol.
  const char* agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  options.port = static_cast<uint16_t>(place.master_port + (agent && std::string(agent) == "True" ? 1 : 0));
  options.isServer = place.rank == 0;
  options.waitWorkers = false;
  options.timeout = timeout;
  return make_intrusive<TCPStore>(place.master_address, options);
}

/// What ranks tell each other beside gradients (flags, names, hashes) is on the host.
void add_host_backend(ProcessGroup& group, const intrusive_ptr<Store>& store, const Placement& place,
                      std::chrono::milliseconds timeout) {
  const intrusive_ptr<Store> own = make_intrusive<PrefixStore>("host/", store->clone());
  group.setBackend(kCPU, ProcessGroup::GLOO,
                   intrusive_ptr<Backend>(make_intrusive<ProcessGroupGloo>(
                       own, place.rank, place.world_size, ProcessGroupGloo::Options::create(timeout))));
}

}  // namespace

void init(const std::string& backend, const InitOptions& options) {
  const Placement place = options.placement ? *options.placement : placement_from_environment();
  const std::string engine = chosen(backend, place);
  Current& now = current();
  const std::lock_guard<std::mutex> lock(now.mutex);
  HB_CHECK(!now.group, "[init] expected one call, got another: the group exists (destroy() ends it)");
  auto store = engine == "mpi" ? intrusive_ptr<Store>() : meeting_place(place, options.store_timeout);
  now.group = new_process_group(engine, store, place.rank, place.world_size, options.timeout);
  if (engine == "nccl") add_host_backend(*now.group, store, place, options.timeout);
  now.store = std::move(store), now.place = place, now.process = getpid();
}

bool is_initialized() {
  const std::lock_guard<std::mutex> lock(current().mutex);
  return static_cast<bool>(current().group);
}

intrusive_ptr<ProcessGroup> default_group() {
  const std::lock_guard<std::mutex> lock(current().mutex);
  HB_CHECK(current().group, "[distributed] expected a call of hb::distributed::init() before, got none");
  return current().group;
}

int get_rank() { return default_group()->getRank(); }
int get_group_size() { return default_group()->getSize(); }

const Placement& placement() {
  default_group();
  return current().place;
}

void destroy() {
  Current& now = current();
  const std::lock_guard<std::mutex> lock(now.mutex);
  if (!now.group || now.process != getpid()) return;
  now.group->shutdown();
  now.group = {}, now.store = {};
}

}  // namespace hb::distributed
