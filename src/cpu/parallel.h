#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include <halfbridge/threads.h>

namespace hb::cpu {

/// Elements of a cheap element-wise operation from which a second thread pays.
constexpr int64_t kGrain = 32768;

/// How many threads share `n` items when each should have at least `grain`.
inline int threads_for(int64_t n, int64_t grain) {
  if (n <= grain) return 1;
  const int most = get_num_threads();
  if (most == 1 || omp_in_parallel()) return 1;
  return static_cast<int>(std::min<int64_t>(most, (n + grain - 1) / grain));
}

/// Calls fn(from, to, thread) on `threads` disjoint ranges that make up [begin, end). Exceptions reach the caller.
template <class F>
void parallel_ranges(int64_t begin, int64_t end, int threads, const F& fn) {
  if (threads <= 1) return fn(begin, end, 0);
  std::exception_ptr failure;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel num_threads(threads)
  {
    const int64_t n = end - begin, team = omp_get_num_threads(), me = omp_get_thread_num();
    const int64_t each = n / team, rest = n % team;
    const int64_t from = begin + me * each + std::min(me, rest), to = from + each + (me < rest ? 1 : 0);
    try {
      if (from < to) fn(from, to, static_cast<int>(me));
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

/// Calls fn(from, to) on ranges of at least `grain` items, on several threads where that pays.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& fn) {
  if (begin >= end) return;
  parallel_ranges(begin, end, threads_for(end - begin, grain), [&](int64_t from, int64_t to, int) { fn(from, to); });
}

}  // namespace hb::cpu
