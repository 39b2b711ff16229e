#pragma once
// A list of tensors as one range of elements to be split among threads.

#include <algorithm>
#include <cstdint>

#include <halfbridge/array_ref.h>

#include "cpu/isa/isa.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {

/// Elements that stay together: what a thread gets begins on a cache line wherever the tensor does.
constexpr int64_t kUnit = 64;

template <class T>
int64_t units(const T& tensor) {
  return (tensor.numel + kUnit - 1) / kUnit;
}
template <class T>
int64_t total_units(ArrayRef<T> tensors) {
  int64_t total = 0;
  for (const auto& t : tensors) total += units(t);
  return total;
}

/// Calls fn(tensor, from, to) on ranges of elements. Each thread gets its part of every tensor that is large, the same
/// as the kernels that made and read it by rows: the lines stay in its cache. The others end to end are split, so that
/// many small ones cost no more than one large one. T has a member numel.
template <class T, class F>
void for_ranges(ArrayRef<T> tensors, int threads, const F& fn) {
  if (threads == 1) {
    for (const auto& t : tensors) fn(t, int64_t{0}, t.numel);
    return;
  }
  const auto is_large = [&](const T& t) { return t.numel >= threads * kGrain / 2; };
  int64_t small = 0;
  for (const auto& t : tensors) small += is_large(t) ? 0 : units(t);
  parallel_ranges(0, threads, threads, [&](int64_t part, int64_t, int) {
    int64_t begin = small * part / threads, end = small * (part + 1) / threads;
    for (const auto& t : tensors) {
      const int64_t size = units(t);
      const int64_t from = is_large(t) ? size * part / threads : std::max<int64_t>(begin, 0);
      const int64_t to = is_large(t) ? size * (part + 1) / threads : std::min(end, size);
      if (from < to) fn(t, from * kUnit, std::min(t.numel, to * kUnit));
      if (!is_large(t)) begin -= size, end -= size;
    }
  });
}

}  // namespace hb::cpu::HB_ISA
