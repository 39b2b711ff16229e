#include <halfbridge/distributed/work.h>

#include "core/recorder.h"

namespace hb::distributed {

namespace {

/// Follows a future.
class FutureWork : public Work {
 public:
  explicit FutureWork(intrusive_ptr<ivalue::Future> future) : future_(std::move(future)) {}
  bool isCompleted() override { return future_->completed(); }
  bool isSuccess() const override { return future_->hasValue(); }
  std::exception_ptr exception() const override { return future_->exception_ptr(); }
  bool wait(std::chrono::milliseconds) override {
    future_->waitAndThrow();
    return true;
  }
  intrusive_ptr<ivalue::Future> getFuture() override { return future_; }

 private:
  intrusive_ptr<ivalue::Future> future_;
};

}  // namespace

std::string opTypeToString(OpType opType) {
  switch (opType) {
#define HB_OP(NAME)  \
  case OpType::NAME: \
    return #NAME;
    HB_OP(BROADCAST)
    HB_OP(ALLREDUCE)
    HB_OP(ALLREDUCE_COALESCED)
    HB_OP(REDUCE)
    HB_OP(ALLGATHER)
    HB_OP(_ALLGATHER_BASE)
    HB_OP(ALLGATHER_COALESCED)
    HB_OP(GATHER)
    HB_OP(SCATTER)
    HB_OP(REDUCE_SCATTER)
    HB_OP(ALLTOALL_BASE)
    HB_OP(ALLTOALL)
    HB_OP(SEND)
    HB_OP(RECV)
    HB_OP(RECVANYSOURCE)
    HB_OP(BARRIER)
    HB_OP(_REDUCE_SCATTER_BASE)
    HB_OP(COALESCED)
    HB_OP(_ALLREDUCE_SPARSE)
    HB_OP(UNKNOWN)
#undef HB_OP
  }
  detail::fail<Error>("[opTypeToString] expected an OpType, got ", static_cast<int>(opType));
}

bool isP2POp(OpType opType, bool batchP2P) {
  return !batchP2P && (opType == OpType::SEND || opType == OpType::RECV || opType == OpType::RECVANYSOURCE);
}

Work::Work(int rank, OpType opType, const char*, const std::optional<std::vector<Tensor>>&)
    : rank_(rank), opType_(opType) {
  if (HB_UNLIKELY(capture::any_recording())) capture::tell_refusal("ProcessGroup", "works with other processes");
}
Work::~Work() = default;

bool Work::isCompleted() {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_;
}

bool Work::isSuccess() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_ && !exception_;
}

std::exception_ptr Work::exception() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return exception_;
}

int Work::sourceRank() const {
  throw Error("sourceRank() may only be called on work objects that correspond to a recv or recv-from-any call.");
}

std::vector<Tensor> Work::result() { throw Error("[result] this work has no tensors"); }

void Work::synchronize() {}

bool Work::wait(std::chrono::milliseconds timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (timeout == kNoTimeout)
    cv_.wait(lock, [&] { return completed_; });
  else if (!cv_.wait_for(lock, timeout, [&] { return completed_; }))
    throw DistBackendError(detail::str("[", opTypeToString(opType_), "] Operation timed out! wait() waited for ",
                                       timeout.count(), " ms; the collective itself goes on until its own deadline"));
  if (exception_) std::rethrow_exception(exception_);
  synchronize();
  return true;
}

void Work::blockCurrentStream() { synchronize(); }

void Work::abort() { throw Error("Work::abort not implemented."); }

intrusive_ptr<ivalue::Future> Work::getFuture() { throw Error("Work::getFuture not implemented."); }

intrusive_ptr<ivalue::Future> Work::getFutureResult() { throw Error("Work::getFutureResult not implemented."); }

float Work::getDuration() const { throw Error("This Backend doesn't support getDuration."); }

uint64_t Work::getSequencenumber() const { throw Error("This Backend doesn't support getSequencenumber."); }

OpType Work::retrieveOpType() const { return opType_; }

intrusive_ptr<Work> Work::create_from_future(const intrusive_ptr<ivalue::Future>& future) {
  return make_intrusive<FutureWork>(future);
}

void Work::finish(std::exception_ptr exception) {
  std::unique_lock<std::mutex> lock(mutex_);
  completed_ = true;
  exception_ = std::move(exception);
  if (recordFunctionEndCallback_) {
    recordFunctionEndCallback_();
    recordFunctionEndCallback_ = nullptr;
  }
  lock.unlock();
  cv_.notify_all();
}

void Work::finishAndThrow(std::exception_ptr exception) {
  finish(exception);
  if (exception) std::rethrow_exception(exception);
}

}  // namespace hb::distributed
