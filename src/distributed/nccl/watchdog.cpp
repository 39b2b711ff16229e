// The watchdog of an NCCL group: lets go of what is done, and ends what fails or does not end. NCCL itself knows no
// deadline, and a rank that is missing is seen by nothing but time.
#include <pthread.h>

#include <cstdio>
#include <exception>

#include "distributed/nccl/stream_queue.h"

namespace hb::distributed::nccl {

namespace {

constexpr std::chrono::milliseconds kLook{20};
constexpr std::chrono::seconds kAnswerEvery{1};    // between two looks into the store
constexpr std::chrono::seconds kWaitForAnswer{3};  // of ranks that may be alive
constexpr const char* kLate = "nccl/late";

std::string key_of(int rank) { return detail::str("nccl/at/", rank); }

}  // namespace

void StreamQueue::watch(intrusive_ptr<StreamWork> work) {
  std::unique_lock<std::mutex> lock(mutex_);
  on_their_way_.push_back(std::move(work));
  if (!thread_.joinable())
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "hb_nccl_watch");
      look();
    });
  lock.unlock();
  changed_.notify_all();
}

void StreamQueue::look() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_) {
    changed_.wait_for(lock, kLook);
    lock.unlock();
    look_once();
    lock.lock();
  }
}

void StreamQueue::look_once() {
  while (true) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (on_their_way_.empty() || error_) break;
    const auto first = on_their_way_.front();
    const Hook hook = hook_;
    lock.unlock();
    if (const std::string why = nccl().aborted(); !why.empty()) return fail_all(why);
    if (const std::string why = nccl().async_error(); !why.empty())
      return fail_all(detail::str("[", first->call().text(), "] NCCL: ", why));
    if (!first->passed()) {
      if (Deadline::clock::now() < first->call().deadline) break;
      return fail_all(blame(first->call()));
    }
    lock.lock();
    on_their_way_.pop_front();
    lock.unlock();
    first->complete(hook);
    changed_.notify_all();
  }
  answer();
}

std::string StreamQueue::status() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return detail::str(count_, "|", last_call_);
}

/// Tells a rank whose deadline has passed where this one is.
void StreamQueue::answer() {
  const auto now = Deadline::clock::now();
  if (answered_ || engine_->size() == 1 || now < next_answer_) return;
  next_answer_ = now + kAnswerEvery;
  try {
    if (!watch_store_->check({kLate})) return;
    watch_store_->set(key_of(engine_->rank()), status());
    answered_ = true;
  } catch (const Error&) {  // the store is gone: the deadline will say what that means
  }
}

/// Who has not come to a collective whose deadline has passed, by what the others' watchdogs say in the store.
std::string StreamQueue::blame(const Call& call) {
  std::string text = detail::str("[", call.text(), "] timed out after ", call.timeout.count(), " ms: "), missing;
  try {
    watch_store_->set(key_of(engine_->rank()), status());
    watch_store_->set(kLate, "1");
    const auto until = Deadline::clock::now() + kWaitForAnswer;
    for (int r = 0; r < engine_->size(); ++r) {
      if (!comes(*watch_store_, key_of(r), until)) {
        missing += detail::str(missing.empty() ? "" : "; ", "rank ", r, " is missing, which does not answer");
        continue;
      }
      const std::string said = watch_store_->get_to_str(key_of(r));
      if (std::stoull(said) < call.number)
        missing += detail::str(missing.empty() ? "" : "; ", "rank ", r, " is missing, whose last call was ",
                               said.substr(said.find('|') + 1));
    }
  } catch (const Error& e) {
    return text + "the store cannot be asked who is missing: " + e.what();
  }
  return text + (missing.empty() ? "all ranks have called it, a GPU or the way between two is stuck" : missing);
}

void StreamQueue::fail_all(const std::string& why) {
  const bool tears_down = handling_ == ErrorHandling::tear_down || handling_ == ErrorHandling::skip_clean_up;
  // One that a program asked for by abort() is no surprise to it.
  if (tears_down && nccl().aborted().empty()) {
    std::fprintf(stderr,
                 "%s\nThe process ends, lest it compute with values that never came "
                 "(TORCH_NCCL_ASYNC_ERROR_HANDLING=2: calls throw)\n",
                 why.c_str());
    std::fflush(stderr);
    std::terminate();
  }
  const auto error = std::make_exception_ptr(DistBackendError(why));
  std::unique_lock<std::mutex> lock(mutex_);
  error_ = error;
  const auto all = std::exchange(on_their_way_, {});
  lock.unlock();
  for (const auto& work : all) work->fail(error);
  if (handling_ != ErrorHandling::none) engine_->abort(why);
  changed_.notify_all();
}

void StreamQueue::drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return on_their_way_.empty() || error_ || closed_; });
}

void StreamQueue::close() {
  if (std::uncaught_exceptions() == 0) drain();
  WorkQueue::close();
}

}  // namespace hb::distributed::nccl
