// The engine's threads. OpenMP's regions wait for each of their threads; where another process has a core, one of them
// may have none for as long as the scheduler's turns last. Here chunks are there for whoever comes.
#include "cpu/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <halfbridge/parallel.h>
#include <omp.h>

#include "cpu/cores.h"
#include "cpu/job.h"

namespace hb {
namespace cpu {
namespace {

/// Whether a thread that waits may keep its core for a moment.
bool may_spin(int workers) {
  static const bool allowed = [] {
    const char* policy = std::getenv("OMP_WAIT_POLICY");
    return !policy || (std::string_view(policy) != "passive" && std::string_view(policy) != "PASSIVE");
  }();
  static const int cores = omp_get_num_procs();
  return allowed && workers < cores;
}

/// Waits, the core kept, until `ready`, but not for long. Returns whether it came to be. Where whom it waits for is on
/// this core, too, that one goes first; the thread may still be given another core, as one that sleeps would not.
template <class F>
bool spin_until(const F& ready, std::chrono::microseconds most, const std::atomic<int>& core) {
  const auto stop = std::chrono::steady_clock::now() + most;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      __builtin_ia32_pause();
    }
    if (core.load(std::memory_order_relaxed) == sched_getcpu()) sched_yield();
  } while (std::chrono::steady_clock::now() < stop);
  return false;
}

/// A thread of the pool, on its own stack; it never ends.
struct Worker {
  OtherThread thread;
  std::atomic<const Job*> job{nullptr};  // that it has joined and not left
  std::chrono::steady_clock::time_point moved;
  Worker* next = nullptr;
};

class Pool {
 public:
  void run(Job& job) {
    list(job);
    {
      OneThread one;
      job.work(0);
    }
    strike(job);
    wait_for_helpers(job);
  }

 private:
  static constexpr std::chrono::microseconds kIdle{200};  // as long as the gap between two functions of a program
  static constexpr std::chrono::microseconds kEnd{50};    // chunks end at about the same time
  static constexpr std::chrono::microseconds kLook{10};   // in which a thread that has a core computes
  static constexpr std::chrono::milliseconds kStay{1};    // on a core that was taken

  void list(Job& job) {
    core_.store(sched_getcpu(), std::memory_order_relaxed);
    int wake = 0;
    {
      std::lock_guard lock(mutex_);
      while (workers_ < job.helpers_wanted() && start_worker()) workers_.fetch_add(1);
      job.next = listed_;
      listed_ = &job;
      jobs_.fetch_add(1, std::memory_order_release);
      wake = std::min(sleeping_, job.helpers_wanted());
    }
    for (; wake > 0; --wake) wake_.notify_one();
  }

  void strike(Job& job) {
    std::lock_guard lock(mutex_);
    Job** at = &listed_;
    while (*at != &job) at = &(*at)->next;
    *at = job.next;
  }

  void wait_for_helpers(Job& job) {
    const auto alone = [&] { return job.helpers.load() == 0; };
    if (alone()) return;
    if (may_spin(workers_) && (spin_until(alone, kEnd, job.core) || bring_helper(job, alone))) return;
    std::unique_lock lock(mutex_);
    ++waiting_;
    done_.wait(lock, alone);
    --waiting_;
  }

  /// Brings a helper here that has no core, as this one will be free; returns whether all have left before.
  template <class F>
  bool bring_helper(const Job& job, const F& alone) {
    constexpr int kMost = 16;
    const OtherThread* helpers[kMost];
    std::chrono::nanoseconds computed[kMost];
    int found = 0;
    {
      std::lock_guard lock(mutex_);
      for (const Worker* w = started_; w && found < kMost; w = w->next)
        if (w->job == &job) helpers[found] = &w->thread, computed[found++] = w->thread.computed();
    }
    if (spin_until(alone, kLook, job.core)) return true;
    const auto has_no_core = [&](int i) { return helpers[i]->computed() - computed[i] < kLook / 2; };
    for (int i = 0; i < found; ++i)
      if (has_no_core(i)) return helpers[i]->bring_here(), false;
    return false;
  }

  /// A listed job that has chunks left, and the caller's number in it.
  std::pair<Job*, int> join(Worker& self) {
    std::lock_guard lock(mutex_);
    for (Job* job = listed_; job; job = job->next)
      if (job->helpers_wanted() > 0 && job->has_more()) {
        self.job = job;
        return {job, job->join()};
      }
    return {};
  }

  void leave(Worker& self, Job& job) {
    self.job = nullptr;
    if (job.helpers.fetch_sub(1) != 1 || waiting_.load() == 0) return;
    std::lock_guard lock(mutex_);  // the caller looked before this, or is in wait()
    done_.notify_all();
  }

  /// Where caller and worker are on one core, and another process perhaps on the next, the worker goes.
  void leave_core_of_caller(Worker& self) {
    const int core = sched_getcpu();
    if (core != core_.load(std::memory_order_relaxed) || !may_spin(workers_)) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - self.moved < kStay) return;
    self.moved = now;
    leave_core(core);
  }

  void work() {
    OneThread one;  // never ends
    Worker self;
    {
      std::lock_guard lock(mutex_);
      self.next = started_;
      started_ = &self;
    }
    for (;;) {
      const unsigned seen = jobs_.load(std::memory_order_acquire);
      for (;;) {
        leave_core_of_caller(self);
        const auto [job, number] = join(self);
        if (!job) break;
        job->work(number);
        leave(self, *job);
      }
      const auto came = [&] { return jobs_.load(std::memory_order_acquire) != seen; };
      if (may_spin(workers_) && spin_until(came, kIdle, core_)) continue;
      std::unique_lock lock(mutex_);
      ++sleeping_;
      wake_.wait(lock, came);
      --sleeping_;
    }
  }

  /// False where the system has no thread left; the callers do the work then.
  bool start_worker() {
    sigset_t others, before;  // signals are for the program's own threads, but for those of a fault of this one
    sigfillset(&others);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&others, fault);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    bool started = true;
    try {
      std::thread([this] { work(); }).detach();
    } catch (const std::system_error&) {
      started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Job* listed_ = nullptr;
  Worker* started_ = nullptr;
  int sleeping_ = 0;
  std::atomic<int> workers_{0}, waiting_{0};  // callers in done_
  std::atomic<unsigned> jobs_{0};             // ever listed
  std::atomic<int> core_{-1};                 // of the last caller
};

// Never destroyed: threads may compute while the process ends. A child of fork(), where its threads are not, computes
// with one thread (parallel.cpp) and does not come here.
Pool& pool() {
  static auto& pool = *new Pool;
  return pool;
}

}  // namespace

OneThread::OneThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}
OneThread::~OneThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

}  // namespace cpu

bool in_chunk() { return cpu::current_chunk != cpu::kOutside || omp_in_parallel(); }
int chunk_number() { return cpu::current_chunk != cpu::kOutside ? cpu::current_chunk : omp_get_thread_num(); }

namespace detail {
void run_chunks(int chunks, void (*fn)(void*, int), void* context) {
  const int threads = get_num_threads();
  if (chunks <= 1 || threads == 1 || in_chunk()) {
    for (int i = 0; i < chunks; ++i) fn(context, i);
    return;
  }
  cpu::Job job(fn, context, chunks, std::min(chunks, threads));
  cpu::pool().run(job);
  if (job.failure) std::rethrow_exception(job.failure);
}
}  // namespace detail

}  // namespace hb
