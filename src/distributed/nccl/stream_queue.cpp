#include "distributed/nccl/stream_queue.h"

#include <cstdlib>

#include <halfbridge/distributed/debug.h>
#include <halfbridge/grad_mode.h>

#include "core/device_backend.h"
#include "distributed/staged.h"

namespace hb::distributed::nccl {

namespace {

ErrorHandling handling_from_environment() {
  const char* value = nullptr;
  for (const char* name : {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING"})
    if (!value) value = std::getenv(name);
  if (!value || !*value) return ErrorHandling::skip_clean_up;
  HB_CHECK(value[0] >= '0' && value[0] <= '3' && !value[1],
           "[ProcessGroupNCCL] expected 0 to 3 in TORCH_NCCL_ASYNC_ERROR_HANDLING, got '", value, "'");
  return static_cast<ErrorHandling>(value[0] - '0');
}

}  // namespace

StreamQueue::StreamQueue(std::shared_ptr<NcclEngine> engine, intrusive_ptr<Store> store)
    : WorkQueue(std::move(engine)),
      store_(std::move(store)),
      watch_store_(store_->clone()),
      handling_(handling_from_environment()) {}

StreamQueue::~StreamQueue() { close(); }

/// Numbers a call, and says so to the watchdog.
void StreamQueue::number(Call& call) {
  HB_CHECK(call.device.is_cuda(), "[", opTypeToString(call.op), "] expected tensors on CUDA for NCCL, got ",
           call.device.str());
  const std::lock_guard<std::mutex> lock(mutex_);
  HB_CHECK(!closed_, "[", opTypeToString(call.op), "] expected a group, got one that was shut down");
  if (error_) std::rethrow_exception(error_);
  call.number = ++count_;
  call.deadline = Deadline::clock::now() + call.timeout;
  last_call_ = call.text();
}

/// Where ranks are to compare their calls, each says in the store what it calls.
void StreamQueue::compare(const Call& call) {
  if (debug_level() != DebugLevel::Detail || engine_->size() == 1 || call.op == OpType::SEND || call.op == OpType::RECV)
    return;
  const std::string at = detail::str("nccl/call/", call.number, "/");
  const std::string own = detail::str(call.signature(), ", ", call.bytes, " bytes");
  store_->set(at + std::to_string(engine_->rank()), own);
  std::string others;
  for (int r = 0; r < engine_->size(); ++r) {
    if (!comes(*store_, at + std::to_string(r), call.deadline))
      throw DistBackendError(
          detail::str("[", call.text(), "] timed out after ", call.timeout.count(), " ms: rank ", r, " is missing"));
    const std::string theirs = store_->get_to_str(at + std::to_string(r));
    if (theirs != own) others += detail::str(others.empty() ? "" : "; ", "rank ", r, " called ", theirs);
  }
  if (!others.empty())
    throw Mismatch(detail::str("[", call.text(), "] expected the same call on all ranks, but ", others));
}

/// Queues run() in the lane's stream, after what the current one holds, or in the current stream itself.
template <class Run>
intrusive_ptr<Work> StreamQueue::launch(const Call& call, Lane& lane, std::vector<Tensor> outputs,
                                        std::shared_ptr<void> kept, bool on_own_stream, const Run& run) {
  const NoGradGuard no_grad;
  CudaApi& api = Mark::api();
  const DeviceIndex device = lane.device;
  const CudaStreamId caller = api.current_stream(device), stream = on_own_stream ? lane.stream : caller;
  if (on_own_stream) {
    Mark begin(device);
    begin.record(caller);
    begin.block(stream);
  }
  const OnStream in(api, stream, device);
  nccl().enter(lane, api.stream_handle(stream, device));
  run();
  auto end = std::make_unique<Mark>(device);
  end->record(stream);
  auto self = std::static_pointer_cast<StreamQueue>(shared_from_this());
  auto work = make_intrusive<StreamWork>(std::move(self), call, std::move(end), std::move(outputs), std::move(kept));
  watch(work);
  return work;
}

intrusive_ptr<Work> StreamQueue::add(Call call, Body body, std::vector<Tensor> outputs, bool async) {
  if (call.op == OpType::BARRIER) {
    auto* const backend = find_device_backend(kCUDA);
    HB_CHECK(backend, "[barrier] expected a GPU for NCCL, got none");
    call.device = Device(kCUDA, backend->current());
  }
  if (coalescing_) {
    deferred_->push_back({std::move(call), std::move(body), std::move(outputs), -1, false, {}});
    return {};
  }
  number(call);
  compare(call);
  Lane& lane = nccl().lane(call);
  const auto kept = std::make_shared<Body>(std::move(body));
  return launch(call, lane, std::move(outputs), kept, async, [&] { (*kept)(*engine_, call); });
}

intrusive_ptr<Work> StreamQueue::add_message(Call call, bool sends, int peer, Tensor tensor) {
  call.root = peer;
  if (coalescing_) {
    deferred_->push_back({std::move(call), nullptr, {tensor}, peer, sends, tensor});
    return {};
  }
  number(call);
  Lane& lane = nccl().lane(call, peer);
  const auto kept = std::make_shared<Tensor>(tensor);
  return launch(call, lane, {tensor}, kept, true, [&] {
    const Staged staged(tensor, sends);
    nccl().message(sends, peer > engine_->rank() ? 1 : 0, staged.data(), staged.bytes());
    if (!sends) staged.store();
  });
}

void StreamQueue::start_coalescing() {
  HB_CHECK(!coalescing_, "[startCoalescing] expected endCoalescing() first, got another start");
  coalescing_ = true;
  deferred_ = std::make_shared<std::vector<Deferred>>();
}

intrusive_ptr<Work> StreamQueue::end_coalescing() {
  HB_CHECK(coalescing_, "[endCoalescing] expected startCoalescing() before, got none");
  coalescing_ = false;
  const auto all = std::exchange(deferred_, nullptr);
  if (all->empty()) return {};
  Call call = all->front().call;
  call.op = OpType::COALESCED;
  number(call);
  Lane& lane = nccl().lane(call);
  std::vector<Tensor> outputs;
  for (const Deferred& d : *all) outputs.insert(outputs.end(), d.outputs.begin(), d.outputs.end());
  return launch(call, lane, std::move(outputs), all, true, [&] { run_deferred(*all); });
}

/// Messages that follow each other are one operation: a rank that sends to one and receives from another waits for
/// neither alone.
void StreamQueue::run_deferred(const std::vector<Deferred>& all) {
  for (size_t i = 0; i < all.size();) {
    if (all[i].peer < 0) {
      Call call = all[i].call;
      call.number = count_;
      all[i].body(nccl(), call);
      ++i;
      continue;
    }
    std::vector<Staged> staged;
    size_t end = i;
    for (; end < all.size() && all[end].peer >= 0; ++end) staged.emplace_back(all[end].message, all[end].sends);
    Grouped together;
    for (size_t k = i; k < end; ++k)
      nccl().message(all[k].sends, all[k].peer, staged[k - i].data(), staged[k - i].bytes());
    together.end();
    for (size_t k = i; k < end; ++k)
      if (!all[k].sends) staged[k - i].store();
    i = end;
  }
}

}  // namespace hb::distributed::nccl
