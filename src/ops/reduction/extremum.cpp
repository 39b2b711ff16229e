// Largest and smallest values, and where they stand.
#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/function_watch.h"
#include "core/geometry.h"
#include "core/recorder.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/reduction/extremum.h"
#include "ops/reduction/reduce_op.h"

namespace hb {

Tensor ops::share_evenly(const Tensor& g, const Tensor& x, const Tensor& y, bool whole) {
  Tensor hit = x == y;
  if (whole && capture::recorder())  // replays look at no number
    hit = logical_or(hit, logical_and(isnan(x), isnan(y)));
  else if (whole && isnan(y).item().toBool())
    hit = isnan(x);
  const Tensor ones = hit.to(g.scalar_type()), share = g / sum_to(ones, y.sizes());
  return whole ? where(hit, share, Scalar(0)) : ones * share;
}

namespace {

using ops::gradients;
using ops::share_evenly;

// Of no dimensions at all LibTorch says no IndexError.
void check_whole(const char* name, const Tensor& self, IntArrayRef dim) {
  HB_CHECK(!dim.empty() || self.numel() > 0, "[", name,
           "] Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
           "argument.");
}

Tensor recorded(const char* node, Tensor out, const Tensor& self, uint64_t mask, bool keepdim, bool whole = false) {
  if (needs_grad(self))
    record(node, out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [mask, keepdim, whole](Backward& b, auto& s) {
             const DimVector& sizes = s[0].impl().sizes();
             return gradients(share_evenly(ops::restore_dims(b.grad(), sizes, mask, keepdim), s[0],
                                           ops::restore_dims(s[1], sizes, mask, keepdim), whole));
           });
  return out;
}

Tensor value_of_all(const char* name, const char* node, const Tensor& self, uint64_t mask, bool keepdim, ReduceOp op,
                    bool whole = false) {
  HB_CHECK_INDEX(ops::reduced_count(self, mask) > 0, "[", name, "] Expected reduction dim ",
                 whole || ops::reduced_count(self, mask) == self.numel()
                     ? "to be specified for input.numel() == 0, got shape "
                     : "to have non-zero size, got shape ",
                 self.sizes());
  const ScalarType t = self.scalar_type();
  return recorded(node, ops::run_reduction(self, mask, keepdim, t, t, {op}), self, mask, keepdim, whole);
}

Tensor value_of_whole(const char* name, const char* node, const Tensor& self, ReduceOp op) {
  HB_CHECK(self.numel() > 0, "[", name,
           "] Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
           "dim with the 'dim' argument.");
  return value_of_all(name, node, self, ops::reduced_dims(name, std::nullopt, self.dim()), false, op, true);
}

struct Found {
  Tensor values, indices;
};

Found find_along(const char* name, const Tensor& self, int64_t dim, bool keepdim, bool largest, bool want_values) {
  const int64_t d = geometry::wrap_dim(name, dim, self.dim());
  const uint64_t mask = ops::reduced_dim(name, dim, self.dim());
  HB_CHECK_INDEX(self.dim() == 0 || self.sizes()[d] != 0, "[", name, "] Expected reduction dim ", d,
                 " to have non-zero size, got shape ", self.sizes());
  Found f;
  f.indices = ops::reduced_result(self, mask, kLong);
  if (want_values) f.values = ops::reduced_result(self, mask, self.scalar_type());
  if (f.indices.numel() > 0) {
    const Tensor x = self.detach().contiguous();
    extremum_kernel(self.device())(f.values, f.indices, x, ops::lines_of(x, d), largest);
  }
  if (!keepdim && mask) {
    ops::drop_dims(f.indices, mask);
    if (want_values) ops::drop_dims(f.values, mask);
  }
  return f;
}

TensorTuple2 value_along(const char* name, const char* node, const Tensor& self, int64_t dim, bool keepdim,
                         bool largest) {
  Found f = find_along(name, self, dim, keepdim, largest, true);
  if (needs_grad(self))
    record(node, f.values, {&self}, {SavedTensor::input(f.indices)},
           [sizes = self.impl().sizes(), dim, mask = ops::reduced_dim(name, dim, self.dim()), keepdim](Backward& b,
                                                                                                       auto& s) {
             const Tensor g = ops::restore_dims(b.grad(), sizes, mask, keepdim);
             const Tensor at = ops::restore_dims(s[0], sizes, mask, keepdim);
             if (sizes.empty()) return gradients(Tensor(g));
             return gradients(zeros(IntArrayRef(sizes.data(), sizes.size()), g.options()).scatter_(dim, at, g));
           });
  return {f.values, f.indices};
}

Tensor place_of(const char* name, const Tensor& self, std::optional<int64_t> dim, bool keepdim, bool largest) {
  HB_CHECK(self.scalar_type() != kBool, "[", name, "] ", name, "(): does not support bool input");
  if (dim) return find_along(name, self, *dim, keepdim, largest, false).indices;
  HB_CHECK_INDEX(self.numel() > 0, "[", name,
                 "] Expected reduction dim to be specified for input.numel() == 0. Specify the "
                 "reduction dim with the 'dim' argument.");
  const Tensor flat = self.detach().reshape(-1);
  Tensor at = find_along(name, flat, 0, false, largest, false).indices;
  return keepdim ? at.reshape(std::vector<int64_t>(self.dim(), 1)) : at;
}

}  // namespace

Tensor max(const Tensor& self) {
  HB_FUNCTION(max, self);
  return value_of_whole("max", "MaxBackward1", self, ReduceOp::max);
}
Tensor min(const Tensor& self) {
  HB_FUNCTION(min, self);
  return value_of_whole("min", "MinBackward1", self, ReduceOp::min);
}
Tensor max(const Tensor& self, const Tensor& other) {
  HB_FUNCTION(max, self, other);
  return maximum(self, other);
}
Tensor min(const Tensor& self, const Tensor& other) {
  HB_FUNCTION(min, self, other);
  return minimum(self, other);
}
TensorTuple2 max(const Tensor& self, int64_t dim, bool keepdim) {
  HB_FUNCTION(max, self, dim, keepdim);
  return value_along("max", "MaxBackward0", self, dim, keepdim, true);
}
TensorTuple2 min(const Tensor& self, int64_t dim, bool keepdim) {
  HB_FUNCTION(min, self, dim, keepdim);
  return value_along("min", "MinBackward0", self, dim, keepdim, false);
}
Tensor amax(const Tensor& self, IntArrayRef dim, bool keepdim) {
  HB_FUNCTION(amax, self, dim, keepdim);
  check_whole("amax", self, dim);
  return value_of_all("amax", "AmaxBackward0", self, ops::reduced_dims("amax", OptionalIntArrayRef(dim), self.dim()),
                      keepdim, ReduceOp::max);
}
Tensor amin(const Tensor& self, IntArrayRef dim, bool keepdim) {
  HB_FUNCTION(amin, self, dim, keepdim);
  check_whole("amin", self, dim);
  return value_of_all("amin", "AminBackward0", self, ops::reduced_dims("amin", OptionalIntArrayRef(dim), self.dim()),
                      keepdim, ReduceOp::min);
}
TensorTuple2 aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  HB_FUNCTION(aminmax, self, dim, keepdim);
  const uint64_t mask =
      dim ? ops::reduced_dim("aminmax", *dim, self.dim()) : ops::reduced_dims("aminmax", std::nullopt, self.dim());
  if (const auto [low, high] = ops::run_range(self, mask, keepdim); low.defined())
    return {recorded("AminBackward0", low, self, mask, keepdim), recorded("AmaxBackward0", high, self, mask, keepdim)};
  if (!dim && self.dim() > 0 && keepdim) return {amin(self, {}, true), amax(self, {}, true)};
  return dim ? TensorTuple2{amin(self, *dim, keepdim), amax(self, *dim, keepdim)}
             : TensorTuple2{amin(self), amax(self)};
}
Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  HB_FUNCTION(argmax, self, dim, keepdim);
  return place_of("argmax", self, dim, keepdim, true);
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  HB_FUNCTION(argmin, self, dim, keepdim);
  return place_of("argmin", self, dim, keepdim, false);
}

}  // namespace hb
