// The engine's threads: every chunk once, whoever computes it.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <future>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <halfbridge/parallel.h>

namespace {

/// Two threads while it lives, whatever the machine has.
struct TwoThreads {
  int before = hb::get_num_threads();
  TwoThreads() { hb::set_num_threads(2); }
  ~TwoThreads() { hb::set_num_threads(before); }
};

cpu_set_t allowed_cores() {
  cpu_set_t cores;
  EXPECT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  return cores;
}

/// Sums of 1 / i, which take some time.
double some_work(int count) {
  double sum = 0;
  for (int i = 1; i <= count; ++i) sum += 1.0 / i;
  return sum;
}

}  // namespace

TEST(Parallel, EachChunkRunsOnce) {
  TwoThreads two;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::atomic<int>> runs(1 + round % 9);
    hb::run_chunks(static_cast<int>(runs.size()), [&](int chunk) { ++runs[chunk]; });
    for (auto& n : runs) ASSERT_EQ(n, 1);
  }
}

TEST(Parallel, AChunkKnowsItsNumberAndRunsOthersInOrder) {
  TwoThreads two;
  EXPECT_FALSE(hb::in_chunk());
  EXPECT_EQ(hb::chunk_number(), 0);
  std::atomic<bool> right{true};
  hb::run_chunks(4, [&](int chunk) {
    std::vector<int> inner;
    hb::run_chunks(3, [&](int i) { inner.push_back(i); });
    if (!hb::in_chunk() || hb::chunk_number() != chunk || inner != std::vector<int>{0, 1, 2}) right = false;
  });
  EXPECT_TRUE(right);
  EXPECT_FALSE(hb::in_chunk());
}

TEST(Parallel, AnExceptionReachesTheCaller) {
  TwoThreads two;
  for (int bad = 0; bad < 4; ++bad) {
    try {
      hb::run_chunks(4, [&](int chunk) {
        if (chunk == bad) throw std::runtime_error("chunk " + std::to_string(chunk));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "chunk " + std::to_string(bad));
    }
    EXPECT_FALSE(hb::in_chunk());
  }
}

TEST(Parallel, ACallerWaitsForNoThreadThatIsBusyElsewhere) {
  TwoThreads two;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> held{0};
  std::thread holder([&] {
    hb::run_chunks(2, [&](int) {
      ++held;
      released.wait();
    });
  });
  while (held < 2)
    std::this_thread::yield();  // the holder and the pool's thread, or its only
                                // one
  std::atomic<int> sum{0};
  hb::run_chunks(8, [&](int chunk) { sum += chunk; });
  EXPECT_EQ(sum, 28);
  release.set_value();
  holder.join();
}

TEST(Parallel, OthersComputeWhatAThreadHasNotBegun) {
  TwoThreads two;
  constexpr int kChunks = 16;
  for (const bool caller_waits : {false, true}) {
    const auto caller = std::this_thread::get_id();
    std::promise<void> done;
    std::atomic<int> others{0};
    std::atomic<bool> waits{false}, in_time{true};
    hb::run_chunks(kChunks, [&](int) {
      if ((std::this_thread::get_id() == caller) == caller_waits && !waits.exchange(true)) {
        in_time = done.get_future().wait_for(std::chrono::seconds(60)) == std::future_status::ready;
      } else if (++others == kChunks - 1) {
        done.set_value();
      }
    });
    EXPECT_TRUE(in_time) << "the caller waits: " << caller_waits;
    EXPECT_EQ(others, waits ? kChunks - 1 : kChunks);
  }
}

TEST(Parallel, ManyCallersAtOnce) {
  TwoThreads two;
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int t = 0; t < 6; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) hb::run_chunks(5, [&](int chunk) { total += chunk; });
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total, 6 * 500 * 10);
}

TEST(Parallel, ThreadsThatWereMovedMayGoAnywhereAgain) {
  using std::chrono::steady_clock;
  TwoThreads two;
  const cpu_set_t all = allowed_cores();
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> end{false};
  std::thread busy([&] {
    while (!end) some_work(1000);
  });
  const double one = some_work(30000);
  for (const auto stop = steady_clock::now() + std::chrono::milliseconds(500); steady_clock::now() < stop;) {
    double sums[8] = {};
    hb::run_chunks(8, [&](int chunk) { sums[chunk] = some_work(30000); });
    for (const double sum : sums) ASSERT_EQ(sum, one);
  }
  end = true;
  busy.join();
  std::atomic<bool> helped{false};
  for (const auto stop = steady_clock::now() + std::chrono::seconds(60); !helped && steady_clock::now() < stop;)
    hb::run_chunks(8, [&](int) {
      const cpu_set_t now = allowed_cores();
      if (std::this_thread::get_id() != caller && CPU_EQUAL(&now, &all)) helped = true;
      some_work(30000);
    });
  EXPECT_TRUE(helped) << "the pool's thread may not go where it might";
  const cpu_set_t now = allowed_cores();
  EXPECT_TRUE(CPU_EQUAL(&now, &all));
}
