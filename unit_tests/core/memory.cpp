// What the allocator counts, and limits of it.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>
#include <halfbridge/memory_limit.h>

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

}  // namespace
