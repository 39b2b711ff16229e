#include <halfbridge/distributed/process_group_gloo.h>

#include <algorithm>
#include <cstdlib>

#include <halfbridge/distributed/prefix_store.h>

#include "distributed/modules.h"
#include "distributed/shm/engine.h"

namespace hb::distributed {

namespace {

bool shared_memory_allowed() {
  const char* transport = std::getenv("HALFBRIDGE_GLOO_TRANSPORT");
  const std::string text = transport ? transport : "auto";
  HB_CHECK(text == "auto" || text == "tcp",
           "[ProcessGroupGloo] expected auto or tcp in HALFBRIDGE_GLOO_TRANSPORT, got '", text, "'");
  return text == "auto";
}

std::shared_ptr<Engine> engine_for(const intrusive_ptr<Store>& store, int rank, int size,
                                   const ProcessGroupGloo::Options& options) {
  if (shared_memory_allowed())
    if (auto segment = shm::Segment::meet(*store, rank, size))
      return std::make_shared<shm::ShmEngine>(std::move(segment), rank, size);
  return gloo_engine(store, rank, size, options.devices.empty() ? nullptr : options.devices[0], options.timeout);
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
