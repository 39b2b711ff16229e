#pragma once
// A reduction of all elements of a row to one, by blocks that come one after the other: the sums of reduce_kernel.

#include "backend/reduce.h"
#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {

struct WholeReduction {
  static constexpr int64_t kRun = 4096;  // elements that are added before the sum moves on
  const ReduceLoop& loop;
  ReduceOp op;
  ScalarType compute;
  const ReduceFinish& finish;

  /// What a thread has reduced: the bits of a number of the type that totals have.
  struct Total {
    bool begun = false;
    uint64_t bits = 0;
  };
  /// The next n elements of a thread's, whole multiples of kRun but for the last.
  void take(const char* block, int64_t n, Total& total) const;
  /// The result of what the threads have.
  void store(const Total* totals, int threads) const;
};

}  // namespace hb::cpu::HB_ISA
