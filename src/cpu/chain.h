#pragma once
// Element-wise calls over as many elements each, of which every element depends on what stands in its own place alone,
// run together: all of them on some elements, then on the next, so that values between them never reach the memory.

#include <functional>

#include "backend/elementwise.h"
#include "core/isa_level.h"

namespace hb::cpu {

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
  /// Bytes of an element, and how many elements stay together.
  int64_t item, unit;
};

struct ChainCall {
  ArrayRef<ChainLink> links;
  /// How many values the links number.
  int values = 0;
  const ChainFront* front = nullptr;
};

namespace v3 {
void run_chain(const ChainCall& call, int64_t from, int64_t to);
}
namespace v4 {
void run_chain(const ChainCall& call, int64_t from, int64_t to);
}

/// Elements [from, to), on this thread.
inline void run_chain(const ChainCall& call, int64_t from, int64_t to) {
  isa_level() >= 4 ? v4::run_chain(call, from, to) : v3::run_chain(call, from, to);
}

}  // namespace hb::cpu
