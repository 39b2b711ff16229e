#include <halfbridge/distributed/process_group_nccl.h>

#include <algorithm>

#include "core/load_cuda.h"
#include "distributed/enqueue.h"
#include "distributed/nccl/stream_queue.h"

namespace hb::distributed {

std::string nccl_version() { return nccl::library().version(); }

ProcessGroupNCCL::Options::Options(bool high_priority)
    : Backend::Options(NCCL_BACKEND_NAME, kProcessGroupNCCLDefaultTimeout), is_high_priority_stream(high_priority) {}

ProcessGroupNCCL::ProcessGroupNCCL(intrusive_ptr<Store> store, int rank, int size, intrusive_ptr<Options> options)
    : EngineBackend(rank, size, options), nccl_options_(options) {
  HB_CHECK(store, "[ProcessGroupNCCL] expected a store, got null");
  HB_CHECK(open_cuda(), "ProcessGroupNCCL is only supported with GPUs, no GPUs found! (", cuda_absence(), ")");
  nccl::library().version();  // or an error that says what is missing
  auto engine = std::make_shared<nccl::NcclEngine>(store, rank, size, options->is_high_priority_stream);
  store_ = store;
  queue_ = std::make_shared<nccl::StreamQueue>(std::move(engine), store);
}

ProcessGroupNCCL::~ProcessGroupNCCL() = default;

nccl::StreamQueue& ProcessGroupNCCL::streams() { return static_cast<nccl::StreamQueue&>(*queue_); }

void ProcessGroupNCCL::startCoalescing() { streams().start_coalescing(); }
intrusive_ptr<Work> ProcessGroupNCCL::endCoalescing() { return streams().end_coalescing(); }

void ProcessGroupNCCL::eagerConnectSingleDevice(Device device) {
  Call call;
  call.device = device, call.timeout = options_->timeout;
  call.deadline = Deadline::clock::now() + call.timeout;
  static_cast<nccl::NcclEngine&>(queue_->engine()).lane(call);
}

intrusive_ptr<Work> ProcessGroupNCCL::message(const char* name, std::vector<Tensor>& tensors, int peer, bool sends) {
  const Tensor& tensor = only_tensor(name, tensors);
  check_root(name, peer, size_);
  HB_CHECK(peer != rank_, "[", name, "] expected another rank, got this one, ", rank_);
  Call call = call_of(sends ? OpType::SEND : OpType::RECV, tensors);
  call.timeout = options_->timeout;
  return streams().add_message(std::move(call), sends, peer, tensor);
}

intrusive_ptr<Work> ProcessGroupNCCL::send(std::vector<Tensor>& tensors, int dstRank, int) {
  return message("send", tensors, dstRank, true);
}
intrusive_ptr<Work> ProcessGroupNCCL::recv(std::vector<Tensor>& tensors, int srcRank, int) {
  return message("recv", tensors, srcRank, false);
}
intrusive_ptr<Work> ProcessGroupNCCL::recvAnysource(std::vector<Tensor>&, int) {
  throw Error("ProcessGroupNCCL does not support recvAnysource");
}
void ProcessGroupNCCL::monitoredBarrier(const BarrierOptions&, bool) {
  throw Error("ProcessGroupNCCL does not support monitoredBarrier, only GLOO supports monitored barrier.");
}

intrusive_ptr<Backend> ProcessGroupNCCL::split(const intrusive_ptr<Store>& store, const std::vector<int>& ranks,
                                               const intrusive_ptr<Backend::Options>& opts) {
  const auto own = std::find(ranks.begin(), ranks.end(), rank_);
  if (own == ranks.end()) return nullptr;
  auto options = make_intrusive<Options>(nccl_options_->is_high_priority_stream);
  options->timeout = opts ? opts->timeout : options_->timeout;
  for (int r : ranks) options->global_ranks_in_group.push_back(groupRanks().at(static_cast<size_t>(r)));
  if (opts) options->group_name = opts->group_name;
  return make_intrusive<ProcessGroupNCCL>(store->clone(), static_cast<int>(own - ranks.begin()),
                                          static_cast<int>(ranks.size()), options);
}

intrusive_ptr<Backend> ProcessGroupNCCL::merge(const intrusive_ptr<Store>& store,
                                               const intrusive_ptr<Backend::Options>& opts, const int& rank,
                                               const int& size) {
  auto options = make_intrusive<Options>(nccl_options_->is_high_priority_stream);
  options->timeout = opts ? opts->timeout : options_->timeout;
  return make_intrusive<ProcessGroupNCCL>(store->clone(), rank, size, options);
}

}  // namespace hb::distributed
