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
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <halfbridge/parallel.h>
#include <omp.h>

namespace hb {
namespace cpu {
namespace {

constexpr int kOutside = -1;
thread_local int current_chunk = kOutside;

/// Stands on its caller's stack, which leaves when it is no longer listed and has no helpers.
class Job {
 public:
  Job(void (*fn)(void*, int), void* context, int chunks, int threads)
      : fn_(fn), context_(context), shares_(std::min(threads, kMostShares)), wanted_(threads - 1) {
    for (int s = 0; s < shares_; ++s) {
      share_[s].next.store(first_chunk(chunks, s), std::memory_order_relaxed);
      share_[s].end = first_chunk(chunks, s + 1);
    }
  }

  std::atomic<int> helpers{0};
  std::atomic<int> core{-1};  // of the last helper that joined
  std::exception_ptr failure;
  Job* next = nullptr;  // of those listed

  int helpers_wanted() const { return wanted_ - joined_; }
  /// The number of a helper, whom the caller waits for from now on.
  int join() {
    helpers.fetch_add(1);
    core.store(sched_getcpu(), std::memory_order_relaxed);
    return ++joined_;
  }
  /// Computes a share of the chunks, as the same thread did in the loop before, and then what is left of the others.
  void work(int mine) {
    for (int s = 0; s < shares_; ++s) {
      Share& share = share_[(mine + s) % shares_];
      for (int i; (i = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;) run(i);
    }
    current_chunk = kOutside;
  }
  bool has_more() const {
    return std::any_of(share_, share_ + shares_,
                       [](const Share& s) { return s.next.load(std::memory_order_relaxed) < s.end; });
  }

 private:
  static constexpr int kMostShares = 16;  // more threads begin with the same ones
  struct alignas(64) Share {
    std::atomic<int> next;
    int end;
  };

  int first_chunk(int chunks, int share) const { return static_cast<int>(int64_t{chunks} * share / shares_); }
  void run(int chunk) {
    current_chunk = chunk;
    try {
      fn_(context_, chunk);
    } catch (...) {
      if (!failed_.test_and_set()) failure = std::current_exception();
    }
  }

  void (*const fn_)(void*, int);
  void* const context_;
  const int shares_, wanted_;
  int joined_ = 0;
  std::atomic_flag failed_ = ATOMIC_FLAG_INIT;
  Share share_[kMostShares];
};

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
    if (alone() || (may_spin(workers_) && spin_until(alone, kEnd, job.core))) return;
    std::unique_lock lock(mutex_);
    ++waiting_;
    done_.wait(lock, alone);
    --waiting_;
  }

  /// A listed job that has chunks left, and the caller's number in it.
  std::pair<Job*, int> join() {
    std::lock_guard lock(mutex_);
    for (Job* job = listed_; job; job = job->next)
      if (job->helpers_wanted() > 0 && job->has_more()) return {job, job->join()};
    return {};
  }

  void leave(Job& job) {
    if (job.helpers.fetch_sub(1) != 1 || waiting_.load() == 0) return;
    std::lock_guard lock(mutex_);  // the caller looked before this, or is in wait()
    done_.notify_all();
  }

  void work() {
    OneThread one;  // never ends
    for (;;) {
      const unsigned seen = jobs_.load(std::memory_order_acquire);
      for (;;) {
        const auto [job, number] = join();
        if (!job) break;
        job->work(number);
        leave(*job);
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
    sigset_t all, before;  // signals are for the program's own threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
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
