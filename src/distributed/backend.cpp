#include <halfbridge/distributed/backend.h>

namespace hb::distributed {

namespace {

[[noreturn]] void unsupported(const Backend& backend, const char* what) {
  detail::fail<Error>("Backend ", backend.getBackendName(), " does not support ", what);
}

}  // namespace

Backend::Options::~Options() = default;

Backend::Backend(int rank, int size) : rank_(rank), size_(size), dist_debug_level_(debug_level()) {
  HB_CHECK(size > 0 && rank >= 0 && rank < size, "[Backend] expected 0 <= rank < size, got rank ", rank, " and size ",
           size);
}
Backend::~Backend() = default;

const std::string Backend::getBackendName() const { throw Error("getBackendName is not implemented."); }

void Backend::setBoundDeviceId(std::optional<Device> device) {
  HB_CHECK(!device || device->has_index(), "setBoundDeviceId must have an index");
  bound_device_id_ = device;
}

intrusive_ptr<Backend> Backend::shrink(const std::vector<int64_t>&, int, const intrusive_ptr<Options>&) {
  unsupported(*this, "shrink");
}
void Backend::setTimeout(std::chrono::milliseconds) { unsupported(*this, "setTimeout"); }
void Backend::startCoalescing() { unsupported(*this, "startCoalescing"); }
intrusive_ptr<Work> Backend::endCoalescing() { unsupported(*this, "endCoalescing"); }
intrusive_ptr<Backend::Options> Backend::getBackendOptions() { unsupported(*this, "getBackendOptions"); }
intrusive_ptr<Work> Backend::broadcast(std::vector<Tensor>&, const BroadcastOptions&) {
  unsupported(*this, "broadcast");
}
intrusive_ptr<Work> Backend::allreduce(std::vector<Tensor>&, const AllreduceOptions&) {
  unsupported(*this, "allreduce");
}
intrusive_ptr<Work> Backend::allreduce_sparse(std::vector<Tensor>&, const AllreduceOptions&) {
  unsupported(*this, "allreduce_sparse");
}
intrusive_ptr<Work> Backend::allreduce_coalesced(std::vector<Tensor>&, const AllreduceCoalescedOptions&) {
  unsupported(*this, "allreduce_coalesced");
}
intrusive_ptr<Work> Backend::reduce(std::vector<Tensor>&, const ReduceOptions&) { unsupported(*this, "reduce"); }
intrusive_ptr<Work> Backend::allgather(std::vector<std::vector<Tensor>>&, std::vector<Tensor>&,
                                       const AllgatherOptions&) {
  unsupported(*this, "allgather");
}
intrusive_ptr<Work> Backend::_allgather_base(Tensor&, Tensor&, const AllgatherOptions&) {
  unsupported(*this, "_allgather_base");
}
intrusive_ptr<Work> Backend::allgather_coalesced(std::vector<std::vector<Tensor>>&, std::vector<Tensor>&,
                                                 const AllgatherOptions&) {
  unsupported(*this, "allgather_coalesced");
}
intrusive_ptr<Work> Backend::allgather_into_tensor_coalesced(std::vector<Tensor>&, std::vector<Tensor>&,
                                                             const AllgatherOptions&) {
  unsupported(*this, "allgather_into_tensor_coalesced");
}
intrusive_ptr<Work> Backend::gather(std::vector<std::vector<Tensor>>&, std::vector<Tensor>&, const GatherOptions&) {
  unsupported(*this, "gather");
}
intrusive_ptr<Work> Backend::scatter(std::vector<Tensor>&, std::vector<std::vector<Tensor>>&, const ScatterOptions&) {
  unsupported(*this, "scatter");
}
intrusive_ptr<Work> Backend::reduce_scatter(std::vector<Tensor>&, std::vector<std::vector<Tensor>>&,
                                            const ReduceScatterOptions&) {
  unsupported(*this, "reduce_scatter");
}
intrusive_ptr<Work> Backend::_reduce_scatter_base(Tensor&, Tensor&, const ReduceScatterOptions&) {
  unsupported(*this, "_reduce_scatter_base");
}
intrusive_ptr<Work> Backend::reduce_scatter_tensor_coalesced(std::vector<Tensor>&, std::vector<Tensor>&,
                                                             const ReduceScatterOptions&) {
  unsupported(*this, "reduce_scatter_tensor_coalesced");
}
intrusive_ptr<Work> Backend::alltoall_base(Tensor&, Tensor&, std::vector<int64_t>&, std::vector<int64_t>&,
                                           const AllToAllOptions&) {
  unsupported(*this, "alltoall_base");
}
intrusive_ptr<Work> Backend::alltoall(std::vector<Tensor>&, std::vector<Tensor>&, const AllToAllOptions&) {
  unsupported(*this, "alltoall");
}
void Backend::monitoredBarrier(const BarrierOptions&, bool) { unsupported(*this, "monitoredBarrier"); }
void Backend::setSequenceNumberForGroup() { unsupported(*this, "setSequenceNumberForGroup"); }
uint64_t Backend::getSequenceNumberForGroup() { unsupported(*this, "getSequenceNumberForGroup"); }
intrusive_ptr<Work> Backend::send(std::vector<Tensor>&, int, int) { unsupported(*this, "send"); }
intrusive_ptr<Work> Backend::recv(std::vector<Tensor>&, int, int) { unsupported(*this, "recv"); }
intrusive_ptr<Work> Backend::recvAnysource(std::vector<Tensor>&, int) { unsupported(*this, "recvAnysource"); }
intrusive_ptr<Work> Backend::barrier(const BarrierOptions&) { unsupported(*this, "barrier"); }
void Backend::registerOnCompletionHook(std::function<void(std::shared_ptr<WorkInfo>)>&&) {
  unsupported(*this, "registerOnCompletionHook");
}
void Backend::waitForPendingWorks() { unsupported(*this, "waitForPendingWorks"); }
void Backend::enableCollectivesTiming() { unsupported(*this, "enableCollectivesTiming"); }
intrusive_ptr<Backend> Backend::split(const intrusive_ptr<Store>&, const std::vector<int>&,
                                      const intrusive_ptr<Options>&) {
  unsupported(*this, "split");
}
intrusive_ptr<Backend> Backend::merge(const intrusive_ptr<Store>&, const intrusive_ptr<Options>&, const int&,
                                      const int&) {
  unsupported(*this, "merge");
}
Tensor Backend::allocateTensor(long, TensorOptions) { unsupported(*this, "allocateTensor"); }
ErrorType Backend::getError() { unsupported(*this, "getError"); }

}  // namespace hb::distributed
