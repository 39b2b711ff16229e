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

template <class T, ScanOp op>
struct Total {
  using Carried = hb::Carried<T>;
  static constexpr int kBlocks = 2;
  static constexpr bool has_places = false;
  __device__ static Carried none() {
    if constexpr (op == ScanOp::prod)
      return Carried(1);
    else if constexpr (std::is_integral_v<Carried>)
      return Carried(0);
    else
      return -Carried(0);  // leaves zeros of both signs as they are
  }
  __device__ static Carried of(T x, int64_t) { return static_cast<Carried>(x); }
  __device__ static Carried combined(Carried a, Carried b) {
    return static_cast<Carried>(op == ScanOp::sum ? a + b : a * b);
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

/// The logarithm of a sum of exponentials: the largest exponent, and what the others add to 1 beside its power. One
/// exponential joins two; the logarithm is for results alone.
template <class T>
struct LogSum {
  using C = compute_t<T>;
  using Rest = hb::Carried<T>;
  struct Carried {
    C high;
    Rest rest;
  };
  static constexpr int kBlocks = 1;
  static constexpr bool has_places = false;
  __device__ static Carried none() { return {-C(INFINITY), Rest(0)}; }
  __device__ static Carried of(T x, int64_t) { return {static_cast<C>(x), Rest(0)}; }
  __device__ static Carried combined(const Carried& a, const Carried& b) {
    const bool first = a.high > b.high;  // where one is NaN, the power is
    const Carried high = first ? a : b, low = first ? b : a;
    const C share = high.high == low.high ? C(1) : std::exp(low.high - high.high);
    return {high.high, high.rest + share * (1 + low.rest)};
  }
  __device__ static T value(const Carried& a) { return static_cast<T>(a.high + std::log1p(static_cast<C>(a.rest))); }
  __device__ static int64_t place(const Carried&) { return 0; }
  __device__ static Carried before(const Carried& a, unsigned by, int width) {
    return {__shfl_up_sync(kFullWarp, a.high, by, width), __shfl_up_sync(kFullWarp, a.rest, by, width)};
  }
  __device__ static Carried from(const Carried& a, int lane, int width) {
    return {__shfl_sync(kFullWarp, a.high, lane, width), __shfl_sync(kFullWarp, a.rest, lane, width)};
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
