#pragma once
// What running results carry from element to element.
//
// A state S of elements T is a type with
//   kBlocks          of 512 threads that a multiprocessor should hold: what is carried in few registers allows two
//   Carried          what some elements in a row became; none() is that of none
//   of(x, index)     that of one element
//   combined(a, b)   that of a's elements and b's, which come after them
//   value(a)         the result, and place(a) its index, if has_places
//   before(a, by, width)   a shuffle: what the lane `by` places before this one has

#include "backend/sort.h"
#include "cuda/kernel_file.h"
#include "formulas/carried.h"

namespace hb::cuda {

/// Not inlined: there are some thirty calls in a kernel.
template <class C>
__device__ __attribute__((noinline)) C log_add_exp(C a, C b) {
  if (a != a || b != b) return a + b;
  const C low = a < b ? a : b, high = a < b ? b : a;
  return low == high && std::isinf(low) ? a : static_cast<C>(std::log1p(std::exp(low - high)) + high);
}

template <class T, ScanOp op>
struct Total {
  using Carried = hb::Carried<T>;
  static constexpr int kBlocks = op == ScanOp::log_sum_exp ? 1 : 2;
  static constexpr bool has_places = false;
  __device__ static Carried none() {
    if constexpr (op == ScanOp::prod)
      return Carried(1);
    else if constexpr (op == ScanOp::log_sum_exp)
      return -Carried(INFINITY);
    else if constexpr (std::is_integral_v<Carried>)
      return Carried(0);
    else
      return -Carried(0);  // leaves zeros of both signs as they are
  }
  __device__ static Carried of(T x, int64_t) { return static_cast<Carried>(x); }
  __device__ static Carried combined(Carried a, Carried b) {
    if constexpr (op == ScanOp::sum) {
      return static_cast<Carried>(a + b);
    } else if constexpr (op == ScanOp::prod) {
      return static_cast<Carried>(a * b);
    } else {
      return log_add_exp(a, b);
    }
  }
  __device__ static T value(Carried a) { return static_cast<T>(a); }
  __device__ static int64_t place(Carried) { return 0; }
  __device__ static Carried before(Carried a, unsigned by, int width) {
    return static_cast<Carried>(__shfl_up_sync(kFullWarp, a, by, width));
  }
  __device__ static Carried from(Carried a, int lane, int width) {
    return static_cast<Carried>(__shfl_sync(kFullWarp, a, lane, width));
  }
};

/// The largest or smallest so far, and the last place that has it. NaN is final.
template <class T>
struct Extremum {
  using C = Compared<T>;
  struct Carried {
    C best;
    int64_t at;
  };
  static constexpr int kBlocks = 1;
  static constexpr bool has_places = true;
  bool largest;
  __device__ static Carried none() { return {C{}, -1}; }
  __device__ static Carried of(T x, int64_t index) { return {static_cast<C>(x), index}; }
  __device__ Carried combined(const Carried& a, const Carried& b) const {
    const bool ordered = largest ? b.best >= a.best : b.best <= a.best;
    const bool later = (b.best != b.best) | ((a.best == a.best) & ordered);
    const bool takes_b = (a.at < 0) | ((b.at >= 0) & later);
    return {takes_b ? b.best : a.best, takes_b ? b.at : a.at};
  }
  __device__ static T value(const Carried& a) { return static_cast<T>(a.best); }
  __device__ static int64_t place(const Carried& a) { return a.at; }
  __device__ static Carried before(const Carried& a, unsigned by, int width) {
    return {static_cast<C>(__shfl_up_sync(kFullWarp, a.best, by, width)),
            static_cast<int64_t>(__shfl_up_sync(kFullWarp, static_cast<long long>(a.at), by, width))};
  }
  __device__ static Carried from(const Carried& a, int lane, int width) {
    return {static_cast<C>(__shfl_sync(kFullWarp, a.best, lane, width)),
            static_cast<int64_t>(__shfl_sync(kFullWarp, static_cast<long long>(a.at), lane, width))};
  }
};

}  // namespace hb::cuda
