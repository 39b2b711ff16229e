#pragma once
// Threads that begin at one moment, so that what they do overlaps.

#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

/// Calls f(0), ..., f(n - 1) each on a thread of its own; an exception of one of them reaches the caller.
inline void together(int n, const std::function<void(int)>& f) {
  std::atomic<int> ready{0};
  std::vector<std::exception_ptr> failures(n);
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < n) std::this_thread::yield();
      try {
        f(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}
