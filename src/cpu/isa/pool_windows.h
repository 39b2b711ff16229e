#pragma once
// What pooling by maxima and by averages share. Both go over channels-last memory: every step handles a run of
// channels.

#include <algorithm>

#include <halfbridge/tensor.h>

#include "backend/pool.h"
#include "cpu/isa/isa.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Calls f(position in the plane) for each element of the window of output `o`.
template <class F>
inline void over_window(const PoolWindows& w, int64_t o, const F& f) {
  const auto &d = w.dim[0], &h = w.dim[1], &v = w.dim[2];
  const int64_t od = o / (h.out * v.out), oh = o / v.out % h.out, ov = o % v.out;
  for (int64_t i = d.begin[od]; i < d.end[od]; i += d.step)
    for (int64_t j = h.begin[oh]; j < h.end[oh]; j += h.step)
      for (int64_t k = v.begin[ov]; k < v.end[ov]; k += v.step) f((i * h.in + j) * v.in + k);
}

inline int64_t grain_for(int64_t channels) { return std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(channels, 1)); }

/// Whether each element is in one window.
inline bool tiled(const PoolWindows& w) {
  for (const auto& d : w.dim) {
    if (d.out == 0 || d.step != 1 || d.begin[0] != 0 || d.end[d.out - 1] != d.in) return false;
    for (int64_t o = 1; o < d.out; ++o)
      if (d.begin[o] != d.end[o - 1] || d.end[o] <= d.begin[o]) return false;
  }
  return true;
}

template <class T>
T* at(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.impl().raw_data()) : nullptr;
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
