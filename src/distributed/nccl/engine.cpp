#include "distributed/nccl/engine.h"

#include <algorithm>

#include <halfbridge/ops/factories.h>

#include "distributed/text.h"

namespace hb::distributed::nccl {

namespace {

/// True where the ranks' memory lies end to end.
bool end_to_end(const void* const* parts, int count, size_t bytes) {
  const auto* first = static_cast<const unsigned char*>(parts[0]);
  for (int r = 1; r < count; ++r)
    if (parts[r] != first + bytes * static_cast<size_t>(r)) return false;
  return true;
}

}  // namespace

bool comes(Store& store, const std::string& key, Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Deadline::clock::now());
  try {
    store.wait({key}, std::max(left, std::chrono::milliseconds(1)));
  } catch (const DistStoreError&) {
    return false;
  }
  return true;
}

void NcclEngine::no_transfers() { throw Error("[NCCL] expected a message within a stream, got one beside it"); }

/// The first of the ranks says in the store which communicator it is. All say that they are there before one waits
/// within NCCL, which knows no deadline.
std::unique_ptr<Communicator> NcclEngine::connect(const Call& call, const std::string& key,
                                                  const std::vector<int>& ranks) {
  const std::string at = "nccl/" + key + "/";
  const bool first = rank_ == ranks[0];
  if (first) store_->set(at + "id", library().unique_id());
  store_->set(at + std::to_string(rank_), "here");
  std::string missing;
  for (const int r : ranks) {
    if (!comes(*store_, at + std::to_string(r), call.deadline)) missing += detail::str(missing.empty() ? "" : ", ", r);
  }
  if (!missing.empty())
    throw DistBackendError(detail::str("[", call.text(), "] timed out after ", call.timeout.count(),
                                       " ms while ranks connected: missing rank(s) ", missing));
  const auto own = std::find(ranks.begin(), ranks.end(), rank_) - ranks.begin();
  return library().connect(store_->get_to_str(at + "id"), static_cast<int>(own), static_cast<int>(ranks.size()));
}

Lane& NcclEngine::lane(const Call& call, int peer) {
  const DeviceIndex device = call.device.index();
  const std::string key = peer < 0 ? detail::str("device", int{device})
                                   : detail::str(std::min(rank_, peer), ":", std::max(rank_, peer), " device");
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!aborted_.empty()) throw DistBackendError(aborted_);
    if (const auto found = lanes_.find(key); found != lanes_.end()) return *found->second;
  }
  std::vector<int> ranks;
  if (peer >= 0) ranks = {std::min(rank_, peer), std::max(rank_, peer)};
  for (int r = 0; peer < 0 && r < size_; ++r) ranks.push_back(r);
  auto lane = std::make_unique<Lane>();
  lane->device = device;
  lane->stream = cuda_api("ProcessGroupNCCL").stream_from_pool(high_priority_ ? -1 : 0, device);
  lane->communicator = connect(call, key, ranks);
  const std::lock_guard<std::mutex> lock(mutex_);
  return *(lanes_[key] = std::move(lane));
}

void NcclEngine::allreduce(const Call& call, void* data, size_t count) {
  comm().allreduce(data, data, count, call.dtype, call.reduction, stream_);
}

void NcclEngine::reduce(const Call& call, void* data, size_t count) {
  comm().reduce(data, data, count, call.dtype, call.reduction, call.root, stream_);
}

void NcclEngine::broadcast(const Call& call, void* data, size_t bytes) {
  comm().broadcast(data, data, bytes, call.root, stream_);
}

void NcclEngine::allgather(const Call&, const void* in, void* const* outs, size_t bytes) {
  if (end_to_end(outs, size_, bytes)) return comm().allgather(in, outs[0], bytes, stream_);
  Grouped together;
  for (int r = 0; r < size_; ++r) comm().broadcast(in, outs[r], bytes, r, stream_);
  together.end();
}

void NcclEngine::gather(const Call& call, const void* in, void* const* outs, size_t bytes) {
  Grouped together;
  comm().send(in, bytes, call.root, stream_);
  for (int r = 0; rank_ == call.root && r < size_; ++r) comm().recv(outs[r], bytes, r, stream_);
  together.end();
}

void NcclEngine::scatter(const Call& call, const void* const* ins, void* out, size_t bytes) {
  Grouped together;
  for (int r = 0; rank_ == call.root && r < size_; ++r) comm().send(ins[r], bytes, r, stream_);
  comm().recv(out, bytes, call.root, stream_);
  together.end();
}

void NcclEngine::reduce_scatter(const Call& call, const void* const* ins, void* out, size_t count) {
  if (end_to_end(ins, size_, count * element_size(call.dtype)))
    return comm().reduce_scatter(ins[0], out, count, call.dtype, call.reduction, stream_);
  Grouped together;
  for (int r = 0; r < size_; ++r) comm().reduce(ins[r], out, count, call.dtype, call.reduction, r, stream_);
  together.end();
}

void NcclEngine::alltoall(const Call&, const Piece* ins, const Piece* outs) {
  Grouped together;
  for (int r = 0; r < size_; ++r) {
    if (ins[r].bytes) comm().send(ins[r].data, ins[r].bytes, r, stream_);
    if (outs[r].bytes) comm().recv(outs[r].data, outs[r].bytes, r, stream_);
  }
  together.end();
}

void NcclEngine::barrier(const Call& call) {
  const Tensor flag = zeros({1}, TensorOptions(kByte).device(call.device));
  comm().allreduce(flag.data_ptr(), flag.data_ptr(), 1, kByte, RankReduction::sum, stream_);
}

void NcclEngine::message(bool sends, int peer, void* data, size_t bytes) {
  if (sends)
    comm().send(data, bytes, peer, stream_);
  else
    comm().recv(data, bytes, peer, stream_);
}

std::string NcclEngine::async_error() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!aborted_.empty()) return {};
  for (const auto& [key, lane] : lanes_)
    if (auto text = lane->communicator->async_error(); !text.empty()) return text;
  return {};
}

std::string NcclEngine::aborted() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return aborted_;
}

void NcclEngine::abort(const std::string& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!aborted_.empty()) return;
  aborted_ = why;
  for (const auto& [key, lane] : lanes_) lane->communicator->abort();
}

void NcclEngine::leave() {
  const std::lock_guard<std::mutex> lock(mutex_);
  lanes_.clear();
}

}  // namespace hb::distributed::nccl
