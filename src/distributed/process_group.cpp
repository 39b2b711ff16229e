#include <halfbridge/distributed/process_group.h>

#include <algorithm>

#include <halfbridge/distributed/prefix_store.h>

namespace hb::distributed {

namespace {

constexpr const char* kBackendNames[] = {"undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "custom"};

/// The tensor whose device decides.
const Tensor& first(const char* name, const std::vector<Tensor>& tensors) {
  HB_CHECK(!tensors.empty(), "[", name, "] expected a tensor, got an empty list");
  return tensors[0];
}

}  // namespace

ProcessGroup::MergeOptions::~MergeOptions() = default;

std::string ProcessGroup::backendTypeToString(const BackendType& type) {
  HB_CHECK(type <= CUSTOM, "[backendTypeToString] expected a backend's type, got ", static_cast<int>(type));
  return kBackendNames[type];
}

ProcessGroup::BackendType ProcessGroup::strToBackendType(const std::string& backend) {
  const auto* found = std::find(std::begin(kBackendNames), std::end(kBackendNames), backend);
  return found == std::end(kBackendNames) ? CUSTOM : static_cast<BackendType>(found - std::begin(kBackendNames));
}

ProcessGroup::ProcessGroup(int rank, int size) : ProcessGroup(nullptr, rank, size) {}

ProcessGroup::ProcessGroup(intrusive_ptr<Store> store, int rank, int size)
    : store_(std::move(store)), rank_(rank), size_(size), dist_debug_level_(debug_level()) {
  HB_CHECK(size > 0 && rank >= 0 && rank < size, "[ProcessGroup] expected 0 <= rank < size, got rank ", rank,
           " and size ", size);
}
ProcessGroup::~ProcessGroup() = default;

bool ProcessGroup::backendSupportsSequenceNumbers(BackendType type) {
  return type == GLOO || type == NCCL || type == XCCL || type == UCC;
}

void ProcessGroup::setTimeout(std::chrono::milliseconds timeout) {
  for (auto& [type, backend] : backendTypeToBackend_) backend->setTimeout(timeout);
}
void ProcessGroup::startCoalescing(DeviceType deviceType) { getBackend(deviceType)->startCoalescing(); }
intrusive_ptr<Work> ProcessGroup::endCoalescing(DeviceType deviceType) {
  return getBackend(deviceType)->endCoalescing();
}

intrusive_ptr<Backend> ProcessGroup::backend_of(const Tensor& tensor) { return getBackend(tensor.device().type()); }

intrusive_ptr<Work> ProcessGroup::broadcast(std::vector<Tensor>& tensors, const BroadcastOptions& opts) {
  return backend_of(first("broadcast", tensors))->broadcast(tensors, opts);
}
intrusive_ptr<Work> ProcessGroup::allreduce(std::vector<Tensor>& tensors, const AllreduceOptions& opts) {
  return backend_of(first("allreduce", tensors))->allreduce(tensors, opts);
}
intrusive_ptr<Work> ProcessGroup::allreduce_coalesced(std::vector<Tensor>& tensors,
                                                      const AllreduceCoalescedOptions& opts) {
  return backend_of(first("allreduce_coalesced", tensors))->allreduce_coalesced(tensors, opts);
}
intrusive_ptr<Work> ProcessGroup::reduce(std::vector<Tensor>& tensors, const ReduceOptions& opts) {
  return backend_of(first("reduce", tensors))->reduce(tensors, opts);
}
intrusive_ptr<Work> ProcessGroup::allgather(std::vector<std::vector<Tensor>>& outputTensors,
                                            std::vector<Tensor>& inputTensors, const AllgatherOptions& opts) {
  return backend_of(first("allgather", inputTensors))->allgather(outputTensors, inputTensors, opts);
}
intrusive_ptr<Work> ProcessGroup::_allgather_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                                  const AllgatherOptions& opts) {
  return backend_of(outputBuffer)->_allgather_base(outputBuffer, inputBuffer, opts);
}
intrusive_ptr<Work> ProcessGroup::allgather_coalesced(std::vector<std::vector<Tensor>>& outputTensorLists,
                                                      std::vector<Tensor>& inputTensors, const AllgatherOptions& opts) {
  return backend_of(first("allgather_coalesced", inputTensors))
      ->allgather_coalesced(outputTensorLists, inputTensors, opts);
}
intrusive_ptr<Work> ProcessGroup::allgather_into_tensor_coalesced(std::vector<Tensor>& outputs,
                                                                  std::vector<Tensor>& inputs,
                                                                  const AllgatherOptions& opts) {
  return backend_of(first("allgather_into_tensor_coalesced", outputs))
      ->allgather_into_tensor_coalesced(outputs, inputs, opts);
}
intrusive_ptr<Work> ProcessGroup::gather(std::vector<std::vector<Tensor>>& outputTensors,
                                         std::vector<Tensor>& inputTensors, const GatherOptions& opts) {
  return backend_of(first("gather", inputTensors))->gather(outputTensors, inputTensors, opts);
}
intrusive_ptr<Work> ProcessGroup::scatter(std::vector<Tensor>& outputTensors,
                                          std::vector<std::vector<Tensor>>& inputTensors, const ScatterOptions& opts) {
  return backend_of(first("scatter", outputTensors))->scatter(outputTensors, inputTensors, opts);
}
intrusive_ptr<Work> ProcessGroup::reduce_scatter(std::vector<Tensor>& outputTensors,
                                                 std::vector<std::vector<Tensor>>& inputTensors,
                                                 const ReduceScatterOptions& opts) {
  return backend_of(first("reduce_scatter", outputTensors))->reduce_scatter(outputTensors, inputTensors, opts);
}
intrusive_ptr<Work> ProcessGroup::_reduce_scatter_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                                       const ReduceScatterOptions& opts) {
  return backend_of(outputBuffer)->_reduce_scatter_base(outputBuffer, inputBuffer, opts);
}
intrusive_ptr<Work> ProcessGroup::reduce_scatter_tensor_coalesced(std::vector<Tensor>& outputs,
                                                                  std::vector<Tensor>& inputs,
                                                                  const ReduceScatterOptions& opts) {
  return backend_of(first("reduce_scatter_tensor_coalesced", outputs))
      ->reduce_scatter_tensor_coalesced(outputs, inputs, opts);
}
intrusive_ptr<Work> ProcessGroup::alltoall_base(Tensor& outputBuffer, Tensor& inputBuffer,
                                                std::vector<int64_t>& outputSplitSizes,
                                                std::vector<int64_t>& inputSplitSizes, const AllToAllOptions& opts) {
  return backend_of(outputBuffer)->alltoall_base(outputBuffer, inputBuffer, outputSplitSizes, inputSplitSizes, opts);
}
intrusive_ptr<Work> ProcessGroup::alltoall(std::vector<Tensor>& outputTensors, std::vector<Tensor>& inputTensors,
                                           const AllToAllOptions& opts) {
  return backend_of(first("alltoall", outputTensors))->alltoall(outputTensors, inputTensors, opts);
}
intrusive_ptr<Work> ProcessGroup::send(std::vector<Tensor>& tensors, int dstRank, int tag) {
  return backend_of(first("send", tensors))->send(tensors, dstRank, tag);
}
intrusive_ptr<Work> ProcessGroup::recv(std::vector<Tensor>& tensors, int srcRank, int tag) {
  return backend_of(first("recv", tensors))->recv(tensors, srcRank, tag);
}
intrusive_ptr<Work> ProcessGroup::recvAnysource(std::vector<Tensor>& tensors, int tag) {
  return backend_of(first("recvAnysource", tensors))->recvAnysource(tensors, tag);
}

void ProcessGroup::monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks) {
  getBackend(kCPU)->monitoredBarrier(opts, wait_all_ranks);
}
void ProcessGroup::setSequenceNumberForGroup() { getDefaultBackend()->setSequenceNumberForGroup(); }
uint64_t ProcessGroup::getSequenceNumberForGroup() { return getDefaultBackend()->getSequenceNumberForGroup(); }

intrusive_ptr<Work> ProcessGroup::barrier(const BarrierOptions& opts) {
  if (opts.device) return getBackend(opts.device->type())->barrier(opts);
  return (hasBackends() && backendType_ != UNDEFINED ? getDefaultBackend() : getBackend(kCPU))->barrier(opts);
}

void ProcessGroup::setBackend(DeviceType deviceType, BackendType backendType,
                              const std::optional<intrusive_ptr<Backend>>& backend) {
  const auto existing = backendTypeToBackend_.find(backendType);
  if (existing != backendTypeToBackend_.end()) {
    deviceTypeToBackend_[deviceType] = existing->second;
  } else if (backend) {
    deviceTypeToBackend_[deviceType] = *backend;
    backendTypeToBackend_[backendType] = *backend;
    (*backend)->setBoundDeviceId(bound_device_id_);
  }
  deviceTypeToBackendType_[deviceType] = backendType;
}

intrusive_ptr<Backend> ProcessGroup::getDefaultBackend() const {
  const auto found = backendTypeToBackend_.find(backendType_);
  HB_CHECK(found != backendTypeToBackend_.end(), "Could not find the default backend type ",
           static_cast<int>(backendType_), " for Process Group with name ", getBackendName(), ".");
  return found->second;
}

intrusive_ptr<Backend> ProcessGroup::getBackend(DeviceType deviceType) {
  const auto found = deviceTypeToBackend_.find(deviceType);
  if (found != deviceTypeToBackend_.end()) return found->second;
  detail::fail<Error>("No backend type associated with device type ", Device(deviceType).str());
}

intrusive_ptr<Backend> ProcessGroup::getBackend(BackendType backendType) const {
  const auto found = backendTypeToBackend_.find(backendType);
  HB_CHECK(found != backendTypeToBackend_.end(), "Could not find backend type ", static_cast<int>(backendType),
           " for Process Group with name ", backendTypeToString(backendType), ".");
  return found->second;
}

std::vector<Device> ProcessGroup::getDeviceTypes() const {
  std::vector<Device> devices;
  for (const auto& [type, backend] : deviceTypeToBackendType_) devices.emplace_back(type);
  return devices;
}

void ProcessGroup::registerOnCompletionHook(std::function<void(std::shared_ptr<WorkInfo>)>&& hook) {
  getDefaultBackend()->registerOnCompletionHook(std::move(hook));
}
void ProcessGroup::shutdown() {
  for (auto& [type, backend] : backendTypeToBackend_) backend->shutdown();
}
void ProcessGroup::abort() {
  for (auto& [type, backend] : backendTypeToBackend_) backend->abort();
}
bool ProcessGroup::hasHooks() const {
  const auto found = backendTypeToBackend_.find(backendType_);
  return found != backendTypeToBackend_.end() && found->second->hasHooks();
}

const std::string& ProcessGroup::getGroupName() const { return getDefaultBackend()->getGroupUid(); }
void ProcessGroup::setGroupName(const std::string& name) {
  for (auto& [type, backend] : backendTypeToBackend_) backend->setGroupUid(name);
}
const std::string& ProcessGroup::getGroupDesc() const { return pg_desc_; }
void ProcessGroup::setGroupDesc(const std::string& desc) {
  pg_desc_ = desc;
  for (auto& [type, backend] : backendTypeToBackend_) backend->setGroupDesc(desc);
}
void ProcessGroup::setBoundDeviceId(std::optional<Device> device) {
  HB_CHECK(!device || device->has_index(), "setBoundDeviceId must have an index");
  bound_device_id_ = device;
}

intrusive_ptr<ProcessGroup> ProcessGroup::splitGroup(const std::vector<int>& ranks,
                                                     const std::optional<std::chrono::milliseconds>& timeout,
                                                     const std::optional<intrusive_ptr<Backend::Options>>& opts,
                                                     const std::optional<std::string>& name,
                                                     const std::optional<std::string>& groupDesc) {
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  HB_CHECK(!sorted.empty() && std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() && sorted.front() >= 0 &&
               sorted.back() < size_,
           "[splitGroup] expected different ranks from 0 to ", size_ - 1);
  const auto own = std::find(sorted.begin(), sorted.end(), rank_);
  HB_CHECK(own != sorted.end(), "[splitGroup] expected this rank among the ranks, got none that is ", rank_);
  const std::string uid = name ? *name : detail::str("split_", incrementSplitCount(), "_", sorted.front());
  intrusive_ptr<Store> store = store_ ? make_intrusive<PrefixStore>(uid + "/", store_->clone()) : nullptr;
  auto group =
      make_intrusive<ProcessGroup>(store, static_cast<int>(own - sorted.begin()), static_cast<int>(sorted.size()));
  group->backendType_ = backendType_;
  for (const auto& [device, type] : deviceTypeToBackendType_) {
    if (group->backendTypeToBackend_.count(type)) {
      group->setBackend(device, type, std::nullopt);
      continue;
    }
    auto parent = getBackend(type);
    auto options = opts && *opts ? *opts : parent->getBackendOptions();
    auto backend = parent->split(store, sorted, options);
    if (timeout) backend->setTimeout(*timeout);
    group->setBackend(device, type, backend);
  }
  group->setGroupName(uid);
  group->setGroupDesc(groupDesc ? *groupDesc : pg_desc_ + ":split");
  return group;
}

intrusive_ptr<ProcessGroup> ProcessGroup::mergeRemoteGroup(const intrusive_ptr<Store>& store, const MergeOptions& opts,
                                                           const int& size) {
  const std::string uid = opts.group_name ? *opts.group_name : "merged";
  const int rank = static_cast<int>(store->add(uid + "/mergeGroupRank", 1) - 1);
  auto inner = make_intrusive<PrefixStore>(uid + "/", store->clone());
  auto group = make_intrusive<ProcessGroup>(inner, rank, size);
  group->backendType_ = backendType_;
  for (const auto& [device, type] : deviceTypeToBackendType_) {
    auto parent = getBackend(type);
    auto backend = parent->merge(inner, parent->getBackendOptions(), rank, size);
    backend->setTimeout(opts.timeout);
    group->setBackend(device, type, backend);
  }
  group->setGroupName(uid);
  group->setGroupDesc(opts.group_desc ? *opts.group_desc : "merged");
  return group;
}

intrusive_ptr<ProcessGroup>& currentProcessGroup() {
  thread_local intrusive_ptr<ProcessGroup> group;
  return group;
}
void setProcessGroup(intrusive_ptr<ProcessGroup> group) { currentProcessGroup() = std::move(group); }

}  // namespace hb::distributed
