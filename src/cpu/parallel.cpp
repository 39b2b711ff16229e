#include "cpu/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <atomic>

#include <halfbridge/error.h>

namespace hb {
namespace {
std::atomic<int> threads{0};  // 0: not asked yet
std::atomic<bool> forked{false};

// Threads are not there in a child of fork(), neither the pool's nor OpenMP's, for which the thread that forked would
// wait: a child of a process that has computed computes with one thread.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] {
  if (threads.load(std::memory_order_relaxed) == 0) return;
  forked.store(true, std::memory_order_relaxed);
  threads.store(1, std::memory_order_relaxed);
  omp_set_num_threads(1);
});
}  // namespace

int get_num_threads() {
  int n = threads.load(std::memory_order_relaxed);
  if (HB_UNLIKELY(n == 0)) {
    n = omp_get_max_threads();
    threads.store(n, std::memory_order_relaxed);
  }
  return n;
}

void set_num_threads(int n) {
  HB_CHECK(n >= 1, "[set_num_threads] expected at least one thread, got ", n);
  if (forked.load(std::memory_order_relaxed) && n > 1) {
    detail::warn("[set_num_threads] a child of fork() computes with one thread, since its parent computed before");
    return;
  }
  threads.store(n, std::memory_order_relaxed);
  omp_set_num_threads(n);  // for the libraries below us
}

}  // namespace hb
