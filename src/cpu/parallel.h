#pragma once

#include <algorithm>
#include <cstdint>

#include <halfbridge/parallel.h>

namespace hb::cpu {

/// Elements of a cheap element-wise operation from which a second thread pays.
constexpr int64_t kGrain = 32768;

/// How many threads share `n` items when each should have at least `grain`.
inline int threads_for(int64_t n, int64_t grain) {
  if (n <= grain) return 1;
  const int most = get_num_threads();
  if (most == 1 || in_chunk()) return 1;
  return static_cast<int>(std::min<int64_t>(most, (n + grain - 1) / grain));
}

/// Calls fn(from, to, part) on `parts` disjoint ranges that make up [begin, end). Exceptions reach the caller.
template <class F>
void parallel_ranges(int64_t begin, int64_t end, int parts, const F& fn) {
  if (parts <= 1) return fn(begin, end, 0);
  const int64_t each = (end - begin) / parts, rest = (end - begin) % parts;
  run_chunks(parts, [&](int part) {
    const int64_t from = begin + part * each + std::min<int64_t>(part, rest), to = from + each + (part < rest ? 1 : 0);
    if (from < to) fn(from, to, part);
  });
}

/// Calls fn(from, to) on ranges of at least `grain` items, on several threads where that pays.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& fn) {
  if (begin >= end) return;
  parallel_ranges(begin, end, threads_for(end - begin, grain), [&](int64_t from, int64_t to, int) { fn(from, to); });
}

}  // namespace hb::cpu
