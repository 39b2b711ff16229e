// The engine's threads. OpenMP's regions wait for each of their threads; where another process has a core, one of them
// may have none for as long as the scheduler's turns last. Here chunks are there for whoever comes.
#include "cpu/pool.h"

#include <pthread.h>
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

#include <halfbridge/parallel.h>
#include <omp.h>

namespace hb {
namespace cpu {
namespace {

constexpr int kOutside = -1;
thread_local int current_chunk = kOutside;

/// Stands on its caller's stack, which leaves when it is no longer listed and has no helpers.
struct Job {
  Job(void (*f)(void*, int), void* c, int n, int helpers_wanted)
      : fn(f), context(c), chunks(n), wanted(helpers_wanted) {}
  void (*const fn)(void*, int);
  void* const context;
  const int chunks;
  int wanted;  // helpers that may still join
  std::atomic<int> begun{0}, helpers{0};
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
  std::exception_ptr failure;
  Job* next = nullptr;  // of those listed

  void work() {
    for (int i; (i = begun.fetch_add(1, std::memory_order_relaxed)) < chunks;) {
      current_chunk = i;
      try {
        fn(context, i);
      } catch (...) {
        if (!failed.test_and_set()) failure = std::current_exception();
      }
    }
    current_chunk = kOutside;
  }
  bool has_more() const { return begun.load(std::memory_order_relaxed) < chunks; }
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

/// Waits, the core kept, until `ready`, but not for long. Returns whether it came to be.
template <class F>
bool spin_until(const F& ready, std::chrono::microseconds most) {
  const auto stop = std::chrono::steady_clock::now() + most;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      __builtin_ia32_pause();
    }
  } while (std::chrono::steady_clock::now() < stop);
  return false;
}

class Pool {
 public:
  void run(Job& job) {
    list(job);
    {
      OneThread one;
      job.work();
    }
    strike(job);
    wait_for_helpers(job);
  }

 private:
  static constexpr std::chrono::microseconds kIdle{200};  // as long as the gap between two functions of a program
  static constexpr std::chrono::microseconds kEnd{50};    // chunks end at about the same time

  void list(Job& job) {
    int wake = 0;
    {
      std::lock_guard lock(mutex_);
      while (workers_ < job.wanted && start_worker()) workers_.fetch_add(1);
      job.next = listed_;
      listed_ = &job;
      jobs_.fetch_add(1, std::memory_order_release);
      wake = std::min(sleeping_, job.wanted);
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
    if (alone() || (may_spin(workers_) && spin_until(alone, kEnd))) return;
    std::unique_lock lock(mutex_);
    ++waiting_;
    done_.wait(lock, alone);
    --waiting_;
  }

  /// A listed job that has chunks left; its caller waits for this helper from now on.
  Job* join() {
    std::lock_guard lock(mutex_);
    for (Job* job = listed_; job; job = job->next) {
      if (job->wanted == 0 || !job->has_more()) continue;
      --job->wanted;
      job->helpers.fetch_add(1);
      return job;
    }
    return nullptr;
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
      while (Job* job = join()) {
        job->work();
        leave(*job);
      }
      const auto came = [&] { return jobs_.load(std::memory_order_acquire) != seen; };
      if (may_spin(workers_) && spin_until(came, kIdle)) continue;
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
  cpu::Job job(fn, context, chunks, std::min(chunks, threads) - 1);
  cpu::pool().run(job);
  if (job.failure) std::rethrow_exception(job.failure);
}
}  // namespace detail

}  // namespace hb
