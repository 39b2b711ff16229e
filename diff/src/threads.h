#pragma once

#include <omp.h>

#include <atomic>
#include <exception>

#include <halfbridge/threads.h>

namespace hb::layer_diff {

/// Calls work(i) for 0 to n - 1 on all threads. An exception of one reaches the caller.
template <class F>
void on_all_threads(size_t n, const F& work) {
  std::exception_ptr failure;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel for schedule(dynamic) num_threads(get_num_threads())
  for (size_t i = 0; i < n; ++i) {
    try {
      work(i);
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hb::layer_diff
