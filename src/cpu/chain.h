#pragma once
// Element-wise calls over as many elements each, of which every element depends on what stands in its own place alone,
// run together: all of them on some elements, then on the next, so that values between them never reach the memory.

#include <functional>

#include "backend/elementwise.h"
#include "backend/reduce.h"
#include "core/isa_level.h"

namespace hb::cpu {

/// How many elements go through links, or come from a front, at once, and at most stay together.
constexpr int64_t kChainBlock = 4096;

struct ChainLink {
  void (*fn)(const ElementwiseCall& call);
  /// Its flat loop is over all elements and has one output; it is written for each part.
  FlatLoop flat;
  ScalarType compute;
  ArrayRef<double> params;
  /// For each operand: which value of the chain it is, which nobody else sees, or -1 where it lies in memory.
  int value[Loop::kMaxOperands];
};

/// What computes blocks of elements before the links.
struct ChainFront {
  /// Elements [at, at + n): to `to`, the chain's own memory for `value`, or where they belong if value is -1.
  std::function<void(int64_t at, int64_t n, char* to)> fill;
  int value = -1;
  /// How many elements stay together; at most kChainBlock.
  int64_t unit = 1;
};

/// A reduction of all elements that the last link computes, where they lie one after the other.
struct ChainTail {
  const ReduceLoop& loop;
  ReduceOp op;
  ScalarType compute;
  const ReduceFinish& finish;
  /// Which value of the chain, that no other link writes, or -1: what loop.in points to.
  int value = -1;
};

struct ChainCall {
  ArrayRef<ChainLink> links;
  int64_t numel;
  /// How many values the links number.
  int values = 0;
  const ChainFront* front = nullptr;
  const ChainTail* tail = nullptr;  // not beside a front
};

namespace v3 {
void run_chain(const ChainCall& call);
}
namespace v4 {
void run_chain(const ChainCall& call);
}

/// Divides the elements among the threads as the calls by themselves do.
inline void run_chain(const ChainCall& call) { isa_level() >= 4 ? v4::run_chain(call) : v3::run_chain(call); }

}  // namespace hb::cpu
