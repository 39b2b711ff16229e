#include <halfbridge/distributed/engine_backend.h>

#include "distributed/work_queue.h"

namespace hb::distributed {

void reduce_memory(const Call& call, void* out, const void* const* in, int64_t inputs, size_t count) {
  if (count == 0) return;
  reduce_ranks_kernel(Device(kCPU))(call.dtype, call.reduction, out, in, inputs, static_cast<int64_t>(count));
}

EngineBackend::EngineBackend(int rank, int size, intrusive_ptr<Backend::Options> options)
    : Backend(rank, size), options_(std::move(options)) {
  HB_CHECK(options_, "[Backend] expected options, got null");
  if (options_->global_ranks_in_group.empty())
    for (int r = 0; r < size; ++r) options_->global_ranks_in_group.push_back(r);
}

EngineBackend::~EngineBackend() {
  if (!queue_) return;
  // The engine of a child of fork() is its parent's: what it does at its end (goodbyes, closed connections) is left
  // out.
  if (queue_->in_child()) {
    new std::shared_ptr<WorkQueue>(queue_);
    return;
  }
  queue_->close();
  queue_->engine().leave();
}

void EngineBackend::start(std::shared_ptr<Engine> engine, intrusive_ptr<Store> store) {
  store_ = std::move(store);
  queue_ = std::make_shared<WorkQueue>(std::move(engine));
}

std::string EngineBackend::transport() const { return queue_->engine().name(); }
uint64_t EngineBackend::getSequenceNumberForGroup() { return queue_->count(); }

void EngineBackend::registerOnCompletionHook(std::function<void(std::shared_ptr<WorkInfo>)>&& hook) {
  onCompletionHook_ = hook;
  queue_->set_hook(std::move(hook));
}

void EngineBackend::waitForPendingWorks() { queue_->drain(); }

ErrorType EngineBackend::getError() { return queue_->error() ? ErrorType::COMM_ERROR : ErrorType::SUCCESS; }

void EngineBackend::abort() {
  queue_->check_process("abort");
  queue_->engine().abort(detail::str("rank ", rank_, " called abort()"));
}

void EngineBackend::shutdown() {
  if (queue_->in_child()) return;
  queue_->close();
  queue_->engine().leave();
}

}  // namespace hb::distributed
