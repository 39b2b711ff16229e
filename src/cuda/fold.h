#pragma once
// Reductions of neighbours in memory (reduce_parts.h): what is computed of the elements.

#include "cuda/convert.h"
#include "cuda/reduce_columns.h"
#include "cuda/reduce_rows.h"
#include "formulas/math.h"
#include "formulas/reduce_step.h"

namespace hb::cuda {

/// Launches R where elements that are reduced, or results, lie side by side; else returns false.
template <class R>
bool reduce_neighbours(const ReduceLoop& l, const typename R::Results& results) {
  if (Rows rows; plan_rows(rows, l, sizeof(typename R::X)))
    launch_rows<R>(rows, results);
  else if (Columns columns; plan_columns(columns, l, sizeof(typename R::X)))
    launch_columns<R>(columns, results);
  else
    return false;
  return true;
}

template <class W>
__device__ inline W finished(W v, const ReduceFinish& f) {
  if constexpr (std::is_floating_point_v<W>) {
    if (f.divisor != 1) v = static_cast<W>(v / f.divisor);
    if (f.root == 2)
      v = math::sqrt(v);
    else if (f.root != 0)
      v = static_cast<W>(math::pow(static_cast<double>(v), 1 / f.root));
  }
  return v;
}

/// |x|^p, in a call: there are some twenty in a kernel.
template <class T>
__device__ __attribute__((noinline)) T power_of(T x, T p) {
  const T size = math::abs(x);
  return p == T(3) ? size * size * size : math::pow(size, p);
}

/// Sums and products of floats are carried on in double: by NVIDIA's tables an H100 converts and adds doubles more than
/// four times as fast as its memory brings floats.
template <ReduceOp op, class X_>
struct Fold : OneInput<X_> {
  using X = X_;
  static constexpr int kBlocks =
      sizeof(X) == 1 || (sizeof(X) == 2 && op == ReduceOp::abs_sum) || op == ReduceOp::power_sum ? 2 : 3;
  static constexpr bool kExact = op == ReduceOp::max || op == ReduceOp::min || op == ReduceOp::any ||
                                 op == ReduceOp::all || op == ReduceOp::abs_max || op == ReduceOp::abs_min;
  static constexpr bool kWhole = std::is_integral_v<Loaded<X>> || op == ReduceOp::count;
  using Part = std::conditional_t<kExact, Loaded<X>, std::conditional_t<kWhole, int64_t, double>>;

  struct Results;
  template <int kChains>
  struct Mine : Chains<Fold, kChains> {
    Loaded<X> p;  // of power_sum
    __device__ void prepare(const Results& results) { p = static_cast<Loaded<X>>(results.finish.p); }
    template <int k>
    __device__ void take(Loaded<X> x, int64_t) {
      Part& mine = this->chain[k];
      if constexpr (op == ReduceOp::count)
        mine += x != Loaded<X>(0);
      else if constexpr (op == ReduceOp::power_sum)
        mine += static_cast<Part>(power_of(x, p));
      else
        mine = formula::step<op, Part>(mine, static_cast<Part>(x));
    }
    __device__ void edge(Loaded<X> x, int64_t index) { take<0>(x, index); }
  };
  struct Results {
    char* out;
    ScalarType dtype;
    Places kept;
    ReduceFinish finish;
    __device__ void store(int64_t output, Part part) const {
      store_as<Part>(out + kept(output), dtype, finished(part, finish));
    }
  };

  __device__ static Part none() { return formula::start<op, Part>(); }
  __device__ static Part merged(Part a, Part b) { return formula::merge<op, Part>(a, b); }
  __device__ static Part from_lane(Part part, int lanes) { return __shfl_xor_sync(kFullWarp, part, lanes); }
  __device__ static Part from_other(const Part* at) { return written_by_others(at); }
};

/// Folds of elements of type X by one of `ops`; false: by another one, or not of neighbours.
template <class X, ReduceOp... ops>
bool fold_neighbours(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish) {
  const Places kept = places("reduce", l.kept, l.kept_out, l.outputs);
  return ((op == ops && reduce_neighbours<Fold<ops, X>>(l, {l.out, l.out_dtype, kept, finish})) || ...);
}

/// By any of the operations.
template <class X>
bool fold_real(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish) {
  using enum ReduceOp;
  return fold_neighbours<X, sum, nansum, prod, max, min, any, all, count, abs_sum, square_sum, abs_max, abs_min,
                         power_sum>(l, op, finish);
}

// By the elements' types, each in a file of its own.
bool fold_floats(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish);
bool fold_halves(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish);
bool fold_bfloat16s(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish);
bool fold_doubles(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish);
bool fold_integers(const ReduceLoop& l, ReduceOp op, const ReduceFinish& finish);

}  // namespace hb::cuda
