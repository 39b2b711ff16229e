#include "distributed/nccl/stream_work.h"

#include <cstdlib>
#include <thread>

#include <halfbridge/type_tree.h>

#include "distributed/nccl/stream_queue.h"

namespace hb::distributed::nccl {

namespace {

using Clock = std::chrono::steady_clock;

bool blocking_wait() {
  for (const char* name : {"TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT"})
    if (const char* value = std::getenv(name)) return std::string(value) == "1";
  return false;
}

}  // namespace

StreamWork::StreamWork(std::shared_ptr<StreamQueue> queue, Call call, std::unique_ptr<Mark> end,
                       std::vector<Tensor> outputs, std::shared_ptr<void> kept)
    : Work(queue->engine().rank(), call.op),
      queue_(std::move(queue)),
      call_(std::move(call)),
      end_(std::move(end)),
      outputs_(std::move(outputs)),
      kept_(std::move(kept)),
      started_(Clock::now()) {}

bool StreamWork::isCompleted() { return Work::isCompleted() || end_->passed(); }

bool StreamWork::isSuccess() const { return !exception() && end_->passed(); }

int StreamWork::sourceRank() const { return opType_ == OpType::RECV ? call_.root : Work::sourceRank(); }

void StreamWork::synchronize() {
  end_->block(Mark::api().current_stream(call_.device.index()));
  if (call_.op == OpType::BARRIER) end_->wait();
}

bool StreamWork::wait(std::chrono::milliseconds timeout) {
  const bool unlimited = timeout == kNoTimeout || timeout == kUnsetTimeout;
  if (!unlimited || blocking_wait()) wait_on_host(unlimited ? call_.timeout : timeout);
  if (const auto error = exception()) std::rethrow_exception(error);
  synchronize();
  if (const auto error = exception()) std::rethrow_exception(error);
  return true;
}

/// Leaves the collective on its way where time runs out: its own deadline is the watchdog's business.
void StreamWork::wait_on_host(std::chrono::milliseconds limit) {
  const auto until = Clock::now() + limit;
  while (!isCompleted()) {
    if (Clock::now() >= until) {
      const std::exception_ptr error = exception();
      if (error) std::rethrow_exception(error);
      throw DistBackendError(detail::str("[", call_.text(), "] timed out after ", limit.count(), " ms of waiting"));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void StreamWork::abort() { queue_->engine().abort(detail::str("[", call_.text(), "] was aborted")); }

void StreamWork::let_go() {
  const std::lock_guard<std::mutex> lock(mutex_);
  kept_ = nullptr;
}

void StreamWork::complete(const Hook& hook) {
  let_go();
  finish();
  const auto now = Clock::now();
  if (hook)
    hook(
        std::make_shared<WorkInfo>(opType_, call_.number, started_, now, std::chrono::duration<float>(now - started_)));
}

void StreamWork::fail(std::exception_ptr error) {
  // The memory stays: a GPU that does not answer may still write to it.
  finish(std::move(error));
}

intrusive_ptr<ivalue::Future> StreamWork::getFuture() {
  synchronize();
  auto future = make_intrusive<ivalue::Future>(ListType::ofTensors());
  if (const auto error = exception())
    future->setError(error);
  else
    future->markCompleted(IValue(outputs_));
  return future;
}

intrusive_ptr<ivalue::Future> StreamWork::getFutureResult() {
  wait_on_host(call_.timeout);
  auto future = make_intrusive<ivalue::Future>(IntType::get());
  future->markCompleted(static_cast<int64_t>(exception() ? WorkResult::COMM_ERROR : WorkResult::SUCCESS));
  return future;
}

}  // namespace hb::distributed::nccl
