#include "distributed/work_queue.h"

#include <pthread.h>

#include <utility>

#include <halfbridge/grad_mode.h>
#include <halfbridge/type_tree.h>

namespace hb::distributed {

using Clock = std::chrono::steady_clock;

CollectiveWork::CollectiveWork(std::shared_ptr<WorkQueue> queue, Call call, Body body, std::vector<Tensor> outputs)
    : Work(queue->engine().rank(), call.op),
      queue_(std::move(queue)),
      call_(std::move(call)),
      body_(std::move(body)),
      outputs_(std::move(outputs)) {}

bool CollectiveWork::wait(std::chrono::milliseconds timeout) {
  if (timeout == kNoTimeout || timeout == kUnsetTimeout) {
    queue_->help(*this);
    timeout = kNoTimeout;
  }
  return Work::wait(timeout);
}

std::vector<Tensor> CollectiveWork::result() {
  HB_CHECK(isCompleted(), "Work needs to be completed before calling result(). Should call wait() before result().");
  return outputs_;
}

intrusive_ptr<ivalue::Future> CollectiveWork::getFuture() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!future_) future_ = make_intrusive<ivalue::Future>(ListType::ofTensors());
  const auto future = future_;
  const bool completed = completed_;
  lock.unlock();
  if (completed) finish_futures();
  return future;
}

intrusive_ptr<ivalue::Future> CollectiveWork::getFutureResult() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!future_result_) future_result_ = make_intrusive<ivalue::Future>(IntType::get());
  const auto future = future_result_;
  const bool completed = completed_;
  lock.unlock();
  if (completed) finish_futures();
  return future;
}

/// Completes the futures that were asked for and are not complete yet. Two threads may come at once: the one that is
/// later waits until the other has. A callback of the first future may come again on the same thread.
void CollectiveWork::finish_futures() {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::exception_ptr error = exception_;
  const auto each = [&](intrusive_ptr<ivalue::Future> future, bool& taken, const IValue& value, bool throws) {
    const bool mine = future && !std::exchange(taken, true);
    lock.unlock();
    if (mine && error && throws) future->setError(error);
    if (mine && !(error && throws)) future->markCompleted(value);
    if (future) future->wait();
    lock.lock();
  };
  each(future_, future_taken_, IValue(outputs_), true);
  const auto result = error ? WorkResult::COMM_ERROR : WorkResult::SUCCESS;
  each(future_result_, future_result_taken_, static_cast<int64_t>(result), false);
}

float CollectiveWork::getDuration() const {
  std::lock_guard<std::mutex> lock(mutex_);
  HB_CHECK(completed_, "[getDuration] expected completed work, got work on its way");
  return std::chrono::duration<float, std::milli>(finished_ - started_).count();
}

void CollectiveWork::run(Engine& engine, std::exception_ptr error, const Hook& hook) {
  started_ = Clock::now();
  call_.deadline = started_ + call_.timeout;
  if (!error) {
    try {
      NoGradGuard no_grad;
      body_(engine, call_);
    } catch (...) {
      error = std::current_exception();
    }
  }
  body_ = nullptr;  // and what it holds
  finished_ = Clock::now();
  finish(error);
  finish_futures();
  if (hook)
    hook(std::make_shared<WorkInfo>(opType_, call_.number, started_, finished_,
                                    std::chrono::duration<float>(finished_ - started_)));
}

WorkQueue::~WorkQueue() { close(); }

void WorkQueue::check_process(const char* what) const {
  HB_CHECK(!in_child(), "[", what, "] expected the process that made the group, got a child of fork()");
}

void WorkQueue::close() {
  if (in_child()) {
    if (thread_.joinable()) thread_.detach();  // it is the parent's
    return;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  closed_ = true;
  std::thread thread = std::move(thread_);
  lock.unlock();
  changed_.notify_all();
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();  // the last owner was a callback of this thread
  else
    thread.join();
}

void WorkQueue::set_hook(Hook hook) {
  std::lock_guard<std::mutex> lock(mutex_);
  hook_ = std::move(hook);
}

std::exception_ptr WorkQueue::error() {
  std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

intrusive_ptr<Work> WorkQueue::add(Call call, Body body, std::vector<Tensor> outputs, bool async) {
  HB_CHECK(call.device == Device(kCPU), "[", opTypeToString(call.op), "] expected tensors on the CPU for ",
           engine_->name(), ", got ", call.device.str());
  std::unique_lock<std::mutex> lock(mutex_);
  HB_CHECK(!closed_, "[", opTypeToString(call.op), "] expected a group, got one that was shut down");
  call.number = ++count_;
  auto work = make_intrusive<CollectiveWork>(shared_from_this(), std::move(call), std::move(body), std::move(outputs));
  pending_.push_back(work);
  // The thread is one of its owners, until close(): a hook may be where the last other one ends.
  if (async && !thread_.joinable()) thread_ = std::thread([self = shared_from_this()] { self->loop(); });
  lock.unlock();
  if (async)
    changed_.notify_all();
  else
    help(*work);
  return work;
}

namespace {
/// The error of a call, if nothing may run after it.
std::exception_ptr lasting(const std::exception_ptr& error) {
  if (!error) return nullptr;
  try {
    std::rethrow_exception(error);
  } catch (const Mismatch&) {  // all ranks know and go on
  } catch (const DistError&) {
    return error;
  } catch (...) {  // of this rank alone: the others find out by the numbers of calls
  }
  return nullptr;
}
}  // namespace

/// Called with the lock, while nothing runs. What work and hook own ends without it.
void WorkQueue::run_front(std::unique_lock<std::mutex>& lock) {
  auto work = std::move(pending_.front());
  pending_.pop_front();
  running_ = true;
  const std::exception_ptr error = error_;
  Hook hook = hook_;
  lock.unlock();
  std::exception_ptr of_hook;
  try {
    work->run(*engine_, error, hook);
  } catch (...) {  // the work itself keeps its error
    of_hook = std::current_exception();
  }
  hook = nullptr;
  const std::exception_ptr failed = lasting(work->exception());
  work.reset();
  lock.lock();
  running_ = false;
  if (!error_) error_ = failed;
  changed_.notify_all();
  if (of_hook) std::rethrow_exception(of_hook);
}

void WorkQueue::help(CollectiveWork& work) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!work.isCompleted()) {
    if (!running_ && !pending_.empty())
      run_front(lock);
    else
      changed_.wait(lock);
  }
}

void WorkQueue::drain() {
  const auto self = shared_from_this();
  std::unique_lock<std::mutex> lock(mutex_);
  while (running_ || !pending_.empty()) {
    if (!running_)
      run_front(lock);
    else
      changed_.wait(lock);
  }
}

void WorkQueue::loop() {
  pthread_setname_np(pthread_self(), "hb_collectives");
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_ || !pending_.empty()) {
    if (!running_ && !pending_.empty())
      run_front(lock);
    else
      changed_.wait(lock);
  }
}

}  // namespace hb::distributed
