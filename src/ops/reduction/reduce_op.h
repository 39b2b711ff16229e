#pragma once
// What reductions share: which dimensions, the result's shape, the way back of a gradient.

#include <halfbridge/ops.h>

#include "backend/reduce.h"

namespace hb::ops {

/// Bit d: dimension d is reduced. None or an empty list mean all. Checks range and repetition.
uint64_t reduced_dims(const char* name, OptionalIntArrayRef dims, int64_t ndim);
uint64_t reduced_dim(const char* name, int64_t dim, int64_t ndim);
/// Elements that become one.
int64_t reduced_count(const Tensor& self, uint64_t mask);
/// The shape with reduced dimensions of size 1.
DimVector kept_sizes(const Tensor& self, uint64_t mask);
/// A new contiguous tensor of that shape.
Tensor reduced_result(const Tensor& self, uint64_t mask, ScalarType dtype);
/// Takes reduced dimensions out of a tensor that nobody else knows.
void drop_dims(Tensor& result, uint64_t mask);

/// The value of a reduction of nothing.
struct Reduction {
  ReduceOp op;
  double empty = 0;
  ReduceFinish finish = {};
};
/// Runs a reduction in the compute type of `compute` into a new tensor of dtype `result`.
Tensor run_reduction(const Tensor& self, uint64_t mask, bool keepdim, ScalarType compute, ScalarType result,
                     const Reduction& r);
/// The smallest and the largest of real elements, where the device finds both at once and there are some; else
/// undefined.
TensorTuple2 run_range(const Tensor& self, uint64_t mask, bool keepdim);

/// A gradient (or result) of a reduction, back in a shape that broadcasts with the input.
Tensor restore_dims(const Tensor& reduced, const DimVector& sizes, uint64_t mask, bool keepdim);
/// (outer, n, inner) of a contiguous tensor along one dimension.
Lines lines_of(const Tensor& contiguous, int64_t dim);

}  // namespace hb::ops
