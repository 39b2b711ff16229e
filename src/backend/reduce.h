#pragma once

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// What many elements become: one.
enum class ReduceOp {
  sum,
  nansum,  // NaN counts as 0
  prod,
  max,  // NaN wins
  min,
  any,
  all,
  count,  // of elements other than zero
  abs_sum,
  square_sum,
  abs_max,
  abs_min,
  power_sum,  // |x|^p
};

/// A reduction's geometry, innermost dimension first, strides in bytes; neighbours that can be merged are.
struct ReduceLoop {
  char* in;
  char* out;
  ScalarType in_dtype, out_dtype;
  DimVector kept, kept_in, kept_out;  // sizes, strides of the input, strides of the output
  DimVector reduced, reduced_in;
  int64_t outputs = 1, count = 1;  // elements of the output; elements that become one of them
  Tensor held;                     // keeps the input's memory

  /// `out` has the dimensions of `in` (keepdim), of size 1 where `mask` says reduced.
  HB_API ReduceLoop(const Tensor& out, const Tensor& in, uint64_t mask);

  /// Bytes to element `i` of the reduced dimensions; at0: where it stands in the innermost.
  int64_t reduced_offset(int64_t i, int64_t& at0) const {
    at0 = i % reduced[0];
    int64_t rest = i / reduced[0], bytes = at0 * reduced_in[0];
    for (size_t d = 1; d < reduced.size(); ++d) {
      bytes += rest % reduced[d] * reduced_in[d];
      rest /= reduced[d];
    }
    return bytes;
  }
};
inline void operands(capture::Operands& v, ReduceLoop& l) { v.reads(l.in), v.writes(l.out); }

/// The recording knows who holds the memory.
template <>
struct capture::Kept<ReduceLoop> {
  ReduceLoop value;
  explicit Kept(const ReduceLoop& loop) : value(loop) { value.held.reset(); }
  ReduceLoop& get() { return value; }
  void show(Operands& v) { operands(v, value); }
};
template <>
struct capture::Kept<const ReduceLoop*> {
  std::optional<Kept<ReduceLoop>> value;
  explicit Kept(const ReduceLoop* loop) {
    if (loop) value.emplace(*loop);
  }
  const ReduceLoop* get() { return value ? &value->get() : nullptr; }
  void show(Operands& v) {
    if (value) value->show(v);
  }
};

/// How a result is finished: (value / divisor) and then root: 0 as it is, 2 the square root, else the root of that
/// degree.
struct ReduceFinish {
  double p = 0, divisor = 1, root = 0;
};
HB_NO_OPERANDS(ReduceFinish)

/// compute: kFloat (sums are carried on in double), kDouble or kLong.
HB_API inline Kernel<void(const ReduceLoop&, ReduceOp, ScalarType compute, const ReduceFinish&)> reduce_kernel{
    "reduce"};
/// The smallest and the largest, of one input to results of one layout. A device that has it takes both in one pass.
HB_API inline Kernel<void(const ReduceLoop& low, const ReduceLoop& high, ScalarType compute)> range_kernel{"aminmax"};
/// Sum of squared deviations divided by max(0, count - correction), or its square root; in double for any dtype.
/// `mean`: the loop of the means (same input), or null.
HB_API inline Kernel<void(const ReduceLoop&, const ReduceLoop* mean, double correction, bool root)> moments_kernel{
    "var"};

/// Contiguous (outer, n, inner).
struct Lines {
  int64_t outer, n, inner;
};
HB_NO_OPERANDS(Lines)
/// The largest (or smallest) of each line and where it first stands; NaN wins. `values` may be undefined.
HB_API inline Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& in, Lines, bool largest)>
    extremum_kernel{"max"};

}  // namespace hb
