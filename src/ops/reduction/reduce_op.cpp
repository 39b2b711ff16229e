#include "ops/reduction/reduce_op.h"
#include "core/empty_contiguous.h"

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "core/empty_contiguous.h"
#include "core/geometry.h"
#include "core/loop.h"

namespace hb::ops {

uint64_t reduced_dim(const char* name, int64_t dim, int64_t ndim) {
  const int64_t d = geometry::wrap_dim(name, dim, ndim);
  return ndim == 0 ? 0 : uint64_t{1} << d;
}

uint64_t reduced_dims(const char* name, OptionalIntArrayRef dims, int64_t ndim) {
  HB_CHECK(ndim <= 64, "[", name, "] expected at most 64 dimensions, got ", ndim);
  if (!dims || dims->empty()) return ndim == 64 ? ~uint64_t{0} : (uint64_t{1} << ndim) - 1;
  uint64_t mask = 0;
  for (int64_t dim : *dims) {
    const uint64_t bit = uint64_t{1} << geometry::wrap_dim(name, dim, ndim);
    HB_CHECK(!(mask & bit), "[", name, "] dim ", dim, " appears multiple times in the list of dims");
    mask |= bit;
  }
  return ndim == 0 ? 0 : mask;
}

int64_t reduced_count(const Tensor& self, uint64_t mask) {
  int64_t count = 1;
  for (int64_t d = 0; d < self.dim(); ++d)
    if ((mask >> d) & 1) count *= self.impl().sizes()[d];
  return count;
}

DimVector kept_sizes(const Tensor& self, uint64_t mask) {
  DimVector sizes = self.impl().sizes();
  for (size_t d = 0; d < sizes.size(); ++d)
    if ((mask >> d) & 1) sizes[d] = 1;
  return sizes;
}

Tensor reduced_result(const Tensor& self, uint64_t mask, ScalarType dtype) {
  return empty_contiguous(kept_sizes(self, mask), dtype, self.device());
}

void drop_dims(Tensor& result, uint64_t mask) {
  const DimVector &sizes = result.impl().sizes(), &strides = result.impl().physical_strides();
  DimVector kept, kept_strides;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!((mask >> d) & 1)) kept.push_back(sizes[d]), kept_strides.push_back(strides[d]);
  result.impl().set_geometry(std::move(kept), std::move(kept_strides), 0);
}

namespace {
/// Sums are sums of parts; whether any or all are true is asked of numbers that are not zero.
Tensor run_complex_reduction(const Tensor& self, uint64_t mask, bool keepdim, ScalarType compute, ScalarType result,
                             const Reduction& r) {
  NoGradGuard no_history;
  if (r.op == ReduceOp::any || r.op == ReduceOp::all) return run_reduction(self != 0, mask, keepdim, kBool, result, r);
  if (r.op != ReduceOp::sum) HB_NOT_SUPPORTED("this reduction is not supported for dtype ", self.scalar_type());
  const ScalarType part = to_real_type(compute);
  const Tensor parts = view_as_real(self.detach().to(compute));
  return view_as_complex(run_reduction(parts, mask, keepdim, part, part, r)).detach();
}
}  // namespace

Tensor run_reduction(const Tensor& self, uint64_t mask, bool keepdim, ScalarType compute, ScalarType result,
                     const Reduction& r) {
  if (HB_UNLIKELY(self.is_complex() || is_complex_type(compute)))
    return run_complex_reduction(self, mask, keepdim, compute, result, r);
  if (HB_UNLIKELY(self.scalar_type() == kUInt64 && (r.op == ReduceOp::max || r.op == ReduceOp::min)))
    HB_NOT_SUPPORTED("[amax] is not supported for dtype UInt64: convert it with to(torch::kLong)");
  Tensor out = reduced_result(self, mask, result);
  const ReduceLoop loop(out, self, mask);
  if (loop.count == 0) {
    out.fill_(r.empty);
  } else {
    reduce_kernel(self.impl().device())(loop, r.op, compute_type(compute), r.finish);
  }
  if (!keepdim) drop_dims(out, mask);
  return out;
}

TensorTuple2 run_range(const Tensor& self, uint64_t mask, bool keepdim) {
  const ScalarType t = self.scalar_type();
  if (!range_kernel.available(self.device()) || self.numel() == 0 || is_complex_type(t) || t == kUInt64) return {};
  Tensor low = reduced_result(self, mask, t), high = reduced_result(self, mask, t);
  range_kernel(self.device())(ReduceLoop(low, self, mask), ReduceLoop(high, self, mask), compute_type(t));
  if (!keepdim) drop_dims(low, mask), drop_dims(high, mask);
  return {low, high};
}

Tensor restore_dims(const Tensor& reduced, const DimVector& sizes, uint64_t mask, bool keepdim) {
  if (keepdim || mask == 0) return reduced;
  DimVector shape = sizes;
  for (size_t d = 0; d < shape.size(); ++d)
    if ((mask >> d) & 1) shape[d] = 1;
  return reduced.reshape(IntArrayRef(shape.data(), shape.size()));
}

Lines lines_of(const Tensor& contiguous, int64_t dim) {
  Lines l{1, 1, 1};
  const DimVector& sizes = contiguous.impl().sizes();
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d)
    (d < dim ? l.outer : d == dim ? l.n : l.inner) *= sizes[d];
  return l;
}

}  // namespace hb::ops
