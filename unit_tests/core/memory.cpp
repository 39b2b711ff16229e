// What the allocator counts, and limits of it.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>
#include <halfbridge/memory_limit.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace {

TEST(Memory, WhatCouldNotBeAllocatedIsNotInUse) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer ends a process that asks for so much";
#endif
  hb::reset_peak_memory();
  const size_t in_use = hb::memory_in_use(), peak = hb::peak_memory();
  EXPECT_THROW(hb::empty({int64_t{1} << 50}), hb::Error);
  EXPECT_EQ(hb::memory_in_use(), in_use);
  EXPECT_EQ(hb::peak_memory(), peak);
}

TEST(Memory, LimitHoldsWhileItLives) {
  constexpr size_t kBytes = size_t{1} << 20;
  const auto too_large = [] { return hb::empty({1 << 19}); };  // 2 MiB
  {
    const hb::MemoryLimit limit(kBytes);
    EXPECT_THROW(too_large(), hb::Error);
    EXPECT_NO_THROW(hb::empty({1 << 17}));
    {
      const hb::MemoryLimit wider(4 * kBytes);
      EXPECT_NO_THROW(too_large());
    }
    EXPECT_THROW(too_large(), hb::Error);
  }
  EXPECT_NO_THROW(too_large());
}

size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST(Memory, GoesBackToTheSystem) {
  const char* const keep = std::getenv("HALFBRIDGE_KEEP_SECONDS");
  if (!keep) GTEST_SKIP() << "needs a short HALFBRIDGE_KEEP_SECONDS";
  const auto window = std::chrono::duration<double>(std::atof(keep));
  constexpr size_t kBytes = size_t{512} << 20;
  const auto use = [](size_t bytes) { return hb::ones({static_cast<int64_t>(bytes / 4)}); };
  const size_t at_first = resident_bytes();
  use(kBytes);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_GT(resident_bytes(), at_first + kBytes / 2) << "kept for the next step";
#endif
  for (int windows = 0; windows < 3; ++windows) {
    std::this_thread::sleep_for(1.2 * window);
    use(size_t{1} << 20);
  }
  EXPECT_LT(resident_bytes(), at_first + kBytes / 2);
}

}  // namespace
