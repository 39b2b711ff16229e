#include <halfbridge/distributed/process_group_gloo.h>

#include <algorithm>
#include <cstdlib>

#include <halfbridge/distributed/prefix_store.h>

#include "distributed/modules.h"
#include "distributed/shm/engine.h"
#include "distributed/shm/region.h"
#include "distributed/two_level/engine.h"
#include "distributed/work_queue.h"

namespace hb::distributed {

namespace {

bool shared_memory_allowed() {
  const char* transport = std::getenv("HALFBRIDGE_GLOO_TRANSPORT");
  const std::string text = transport ? transport : "auto";
  HB_CHECK(text == "auto" || text == "tcp",
           "[ProcessGroupGloo] expected auto or tcp in HALFBRIDGE_GLOO_TRANSPORT, got '", text, "'");
  return text == "auto";
}

using Gloo = std::function<std::shared_ptr<Engine>(const std::string& prefix, int rank, int size)>;

/// Null on all ranks where some host cannot share memory.
std::shared_ptr<Engine> two_levels(const intrusive_ptr<Store>& store, const two_level::Layout& layout, int rank,
                                   int size, const Gloo& gloo) {
  const auto here = static_cast<size_t>(layout.host);
  PrefixStore inside_store(detail::str("host", here, "/"), store->clone());
  std::shared_ptr<shm::ShmEngine> inside = shm::ShmEngine::meet(inside_store, layout.place, layout.ranks_here());
  store->set(detail::str("two_level/", rank), inside ? "yes" : "no");
  bool all_can = true;
  for (int r = 0; r < size; ++r) all_can &= store->get_to_str(detail::str("two_level/", r)) == "yes";
  if (!all_can) return nullptr;
  std::shared_ptr<Engine> between;
  if (layout.even() || layout.place == 0)
    between = gloo(detail::str("between", layout.place, "/"), layout.host, static_cast<int>(layout.hosts.size()));
  return std::make_shared<two_level::TwoLevelEngine>(layout, std::move(inside), std::move(between),
                                                     gloo("all/", rank, size));
}

std::shared_ptr<Engine> engine_for(const intrusive_ptr<Store>& store, int rank, int size,
                                   const ProcessGroupGloo::Options& options) {
  const Gloo gloo = [&](const std::string& prefix, int of, int ranks) {
    const intrusive_ptr<Store> own = make_intrusive<PrefixStore>(prefix, store->clone());
    return gloo_engine(own, of, ranks, options.devices.empty() ? nullptr : options.devices[0], options.timeout);
  };
  if (!shared_memory_allowed()) return gloo("all/", rank, size);
  if (auto engine = shm::ShmEngine::meet(*store, rank, size)) return engine;
  const two_level::Layout layout(shm::Segment::hosts(*store, size), rank);
  if (layout.worth_it())
    if (auto engine = two_levels(store, layout, rank, size, gloo)) return engine;
  return gloo("all/", rank, size);
}

}  // namespace

ProcessGroupGloo::Options::Options(std::chrono::milliseconds timeout) : Backend::Options(GLOO_BACKEND_NAME, timeout) {}

std::shared_ptr<::gloo::transport::Device> ProcessGroupGloo::createDeviceForInterface(const std::string& interface,
                                                                                      bool) {
  return gloo_device(interface, "");
}
std::shared_ptr<::gloo::transport::Device> ProcessGroupGloo::createDeviceForHostname(const std::string& hostname,
                                                                                     bool) {
  return gloo_device("", hostname);
}
std::shared_ptr<::gloo::transport::Device> ProcessGroupGloo::createDefaultDevice(bool) { return gloo_device("", ""); }

ProcessGroupGloo::ProcessGroupGloo(const intrusive_ptr<Store>& store, int rank, int size,
                                   intrusive_ptr<Options> options)
    : EngineBackend(rank, size, options), gloo_options_(options) {
  HB_CHECK(store, "[ProcessGroupGloo] expected a store, got null");
  start(engine_for(store, rank, size, *options), store);
}

ProcessGroupGloo::~ProcessGroupGloo() = default;

bool ProcessGroupGloo::supportsTensorAlloc(DeviceIndex) {
  return dynamic_cast<shm::ShmEngine*>(&queue_->engine()) != nullptr;
}

Tensor ProcessGroupGloo::allocateTensor(long size, TensorOptions options) {
  HB_CHECK(supportsTensorAlloc(-1), "Backend ", getBackendName(), " does not support allocateTensor over ",
           transport());
  return shm::allocate_shared(size, options);
}

intrusive_ptr<Backend> ProcessGroupGloo::split(const intrusive_ptr<Store>& store, const std::vector<int>& ranks,
                                               const intrusive_ptr<Backend::Options>& opts) {
  const auto own = std::find(ranks.begin(), ranks.end(), rank_);
  if (own == ranks.end()) return nullptr;
  auto options = make_intrusive<Options>(opts ? opts->timeout : options_->timeout);
  if (const auto* gloo = dynamic_cast<Options*>(opts.get())) options->devices = gloo->devices;
  for (int r : ranks) options->global_ranks_in_group.push_back(groupRanks().at(r));
  if (opts) options->group_name = opts->group_name;
  return make_intrusive<ProcessGroupGloo>(store->clone(), static_cast<int>(own - ranks.begin()),
                                          static_cast<int>(ranks.size()), options);
}

intrusive_ptr<Backend> ProcessGroupGloo::merge(const intrusive_ptr<Store>& store,
                                               const intrusive_ptr<Backend::Options>& opts, const int& rank,
                                               const int& size) {
  auto options = make_intrusive<Options>(opts ? opts->timeout : options_->timeout);
  return make_intrusive<ProcessGroupGloo>(store->clone(), rank, size, options);
}

}  // namespace hb::distributed
