#pragma once
// Means and variances (reduce_parts.h).

#include "cuda/reduce_parts.h"

namespace hb::cuda {

#ifdef HB_DEVICE_CODE
/// Count, mean and sum of squared deviations.
struct Moments {
  double n, mean, m2;
};

/// A thread sums deviations from its first element, and their squares, without divisions; parts are joined as Chan,
/// Golub and LeVeque do. As an element of the thread is what is subtracted, a large mean swallows no small variance.
template <class X_, class Results_>
struct SpreadOf : OneInput<X_> {
  using X = X_;
  using Part = Moments;
  using Results = Results_;
  static constexpr int kBlocks = 2;

  template <int kChains>
  struct Mine {
    double shift = 0, sum[kChains] = {}, squares[kChains] = {};
    int n = 0;
    __device__ void prepare(const Results&) {}
    __device__ void begin(double x) {
      if (n == 0) shift = x - x == 0 ? x : 0;  // infinity stays one in the mean
    }
    template <int k>
    __device__ void take(double x, int64_t) {
      const double d = x - shift;
      sum[k] += d, squares[k] += d * d;
      ++n;
    }
    __device__ void edge(double x, int64_t index) { take<0>(x, index); }
    __device__ Moments part() const {
      if (n == 0) return none();
      double s = sum[0], q = squares[0];
      for (int k = 1; k < kChains; ++k) s += sum[k], q += squares[k];
      const double mean = s / n, m2 = q - s * mean;
      return {static_cast<double>(n), shift + mean, m2 < 0 ? 0 : m2};
    }
  };
  __device__ static Moments none() { return {0, 0, 0}; }
  __device__ static Moments merged(const Moments& a, const Moments& b) {
    if (b.n == 0) return a;
    if (a.n == 0) return b;
    const double n = a.n + b.n, d = b.mean - a.mean, share = b.n / n;
    return {n, a.mean + d * share, a.m2 + b.m2 + d * d * a.n * share};
  }
  __device__ static Moments from_lane(const Moments& m, int lanes) {
    return {__shfl_xor_sync(kFullWarp, m.n, lanes), __shfl_xor_sync(kFullWarp, m.mean, lanes),
            __shfl_xor_sync(kFullWarp, m.m2, lanes)};
  }
  __device__ static Moments from_other(const Moments* at) {
    return {written_by_others(&at->n), written_by_others(&at->mean), written_by_others(&at->m2)};
  }
};
#endif

}  // namespace hb::cuda
