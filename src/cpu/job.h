#pragma once
// A loop's chunks, for the threads of the pool (cpu/pool.cpp).

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

namespace hb::cpu {

constexpr int kOutside = -1;
/// The chunk that this thread computes, or kOutside.
inline thread_local int current_chunk = kOutside;

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

}  // namespace hb::cpu
