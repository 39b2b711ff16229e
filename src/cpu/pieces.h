#pragma once

#include "cpu/parallel.h"

namespace hb::cpu {

/// parallel_for in several pieces per thread, for loops that take long and whose ranges cost nothing to begin. Where
/// another process takes a thread's core, the others compute all but the piece that this thread has begun.
template <class F>
void parallel_pieces(int64_t begin, int64_t end, int64_t grain, const F& fn) {
  constexpr int64_t kPerThread = 8;
  if (begin >= end) return;
  const int64_t n = end - begin, threads = threads_for(n, grain);
  if (threads == 1) return fn(begin, end);
  const int64_t pieces = std::clamp(n / grain, threads, threads * kPerThread);
  run_chunks(static_cast<int>(pieces), [&](int64_t i) { fn(begin + n * i / pieces, begin + n * (i + 1) / pieces); });
}

}  // namespace hb::cpu
