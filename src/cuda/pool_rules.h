#pragma once

#include <algorithm>

#include "backend/pool.h"
#include "cuda/walk.h"

namespace hb::cuda {

/// `most`: the largest number that the rule divides.
inline PoolRuleOf<Divisor> with_divisors(const PoolRule& r, int64_t most) {
  return {Divisor(r.in, most), Divisor(r.out, most), Divisor(r.step, most), r.kernel, Divisor(r.stride, most),
          r.padding,           r.adaptive,           r.counts_padding};
}

/// The windows as a kernel is given them, by value.
struct PoolRules {
  PoolRuleOf<Divisor> dim[3];
  double divisor;
  Divisor channels;

  PoolRules(const PoolWindows& w, int64_t inmost) : divisor(w.divisor) {
    int64_t most = std::max(w.inputs(), w.outputs()) * inmost;  // of what is divided
    for (const PoolRule& d : w.dim)
      most = std::max(most, d.adaptive ? (d.in + 1) * (d.out + 1) + d.in : d.in + 2 * d.padding + d.kernel * d.step);
    for (int d = 0; d < 3; ++d) dim[d] = with_divisors(w.dim[d], most);
    channels = Divisor(inmost, most);
  }
  HB_HD int64_t inputs() const { return dim[0].in * dim[1].in * dim[2].in; }
  HB_HD int64_t outputs() const { return dim[0].out * dim[1].out * dim[2].out; }
  int64_t elements_of_window() const {
    int64_t n = 1;
    for (const auto& d : dim) n *= d.adaptive ? (d.in + d.out - 1) / d.out : d.kernel;
    return n;
  }
#ifdef HB_DEVICE_CODE
  // Calls f(position in the plane) for each element of window o.
  template <class F>
  __device__ void over_window(int64_t o, const F& f) const {
    const int64_t at[3] = {o / dim[2].out / dim[1].out, o / dim[2].out % dim[1].out, o % dim[2].out};
    uint32_t begin[3], end[3], step[3];  // each below 2^31
    for (int d = 0; d < 3; ++d) {
      begin[d] = static_cast<uint32_t>(dim[d].begin_of(at[d])), end[d] = static_cast<uint32_t>(dim[d].end_of(at[d]));
      step[d] = static_cast<uint32_t>(dim[d].step);
    }
    for (uint32_t i = begin[0]; i < end[0]; i += step[0])
      for (uint32_t j = begin[1]; j < end[1]; j += step[1]) {
        const int64_t row = (i * dim[1].in + j) * dim[2].in;
        for (uint32_t k = begin[2]; k < end[2]; k += step[2]) f(row + k);
      }
  }
  // The same, shared by a warp.
  template <class F>
  __device__ void over_part_of_window(int64_t o, const F& f) const {
    const int64_t at[3] = {o / dim[2].out / dim[1].out, o / dim[2].out % dim[1].out, o % dim[2].out};
    int64_t begin[3];
    uint32_t n[3];
    for (int d = 0; d < 3; ++d) {
      begin[d] = dim[d].begin_of(at[d]);
      const int64_t span = dim[d].end_of(at[d]) - begin[d];
      n[d] = span <= 0 ? 0 : static_cast<uint32_t>((span + dim[d].step - 1) / dim[d].step);
    }
    for (uint32_t e = threadIdx.x; e < n[0] * n[1] * n[2]; e += kWarp) {
      const uint32_t row = e / n[2], k = e - row * n[2], i = row / n[1], j = row - i * n[1];
      f(((begin[0] + i * dim[0].step) * dim[1].in + begin[1] + j * dim[1].step) * dim[2].in + begin[2] +
        k * dim[2].step);
    }
  }
  // What the average of a window of that extent divides by.
  template <class C>
  __device__ C divisor_of(int64_t extent) const {
    return divisor != 0 ? static_cast<C>(divisor) : static_cast<C>(extent);
  }
  __device__ int64_t extent_of(int64_t o) const {
    return dim[0].extent_of(o / dim[2].out / dim[1].out) * dim[1].extent_of(o / dim[2].out % dim[1].out) *
           dim[2].extent_of(o % dim[2].out);
  }
  // Calls f(o, its extent) for each window o that element p of the plane is in.
  template <class F>
  __device__ void over_windows_of(int64_t p, const F& f) const {
    const int64_t at[3] = {p / dim[2].in / dim[1].in, p / dim[2].in % dim[1].in, p % dim[2].in};
    int32_t from[3], to[3];
    for (int d = 0; d < 3; ++d) {
      from[d] = static_cast<int32_t>(dim[d].first_over(at[d])), to[d] = static_cast<int32_t>(dim[d].end_over(at[d]));
    }
    for (int32_t i = from[0]; i < to[0]; ++i) {
      const int64_t plane = dim[0].extent_of(i);
      for (int32_t j = from[1]; dim[0].holds(i, at[0]) && j < to[1]; ++j) {
        const int64_t row = (i * dim[1].out + j) * dim[2].out, line = plane * dim[1].extent_of(j);
        for (int32_t k = from[2]; dim[1].holds(j, at[1]) && k < to[2]; ++k)
          if (dim[2].holds(k, at[2])) f(row + k, line * dim[2].extent_of(k));
      }
    }
  }
#endif
};

}  // namespace hb::cuda
