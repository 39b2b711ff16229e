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

/// Calls fn(tensor, from, to) on ranges of elements. All tensors end to end are split among the threads, so that many
/// small ones cost no more than one large one. T has a member numel.
template <class T, class F>
void for_ranges(ArrayRef<T> tensors, int threads, const F& fn) {
  parallel_ranges(0, total_units(tensors), threads, [&](int64_t from, int64_t to, int) {
    for (const auto& t : tensors) {
      const int64_t size = units(t);
      if (from < size && to > 0) fn(t, std::max<int64_t>(from, 0) * kUnit, std::min(t.numel, to * kUnit));
      from -= size, to -= size;
    }
  });
}

}  // namespace hb::cpu::HB_ISA
