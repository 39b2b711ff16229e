// Sums, means, products, variances, norms and what else turns many numbers into one.
#include <cmath>
#include <limits>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/destination.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "core/geometry.h"
#include "core/recorder.h"
#include "ops/common/as_floating.h"
#include "ops/common/inplace.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/reduction/reduce_complex.h"
#include "ops/reduction/reduce_op.h"
#include "ops/sparse/sparse.h"

namespace hb {
namespace {

using ops::gradients;

Tensor spread(const Tensor& g, const DimVector& sizes, uint64_t mask, bool keepdim) {
  return ops::restore_dims(g, sizes, mask, keepdim).expand(sizes);
}

ScalarType sum_dtype(const Tensor& self, std::optional<ScalarType> dtype) {
  if (dtype) return *dtype;
  return is_integral_type(self.scalar_type(), true) ? kLong : self.scalar_type();
}

Tensor sum_masked(const char* node, const Tensor& self, uint64_t mask, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType t = sum_dtype(self, dtype);
  const bool truths = t == kBool && self.scalar_type() != kBool;
  if (truths || (self.is_complex() && !is_complex_type(t))) return sum_masked(node, self.to(t), mask, keepdim, t);
  Tensor out = ops::run_reduction(self, mask, keepdim, t, t, {ReduceOp::sum});
  if (needs_grad(self) && is_differentiable_type(t))
    record(node, out, {&self}, [sizes = self.impl().sizes(), mask, keepdim](Backward& b) {
      return gradients(spread(b.grad(), sizes, mask, keepdim));
    });
  return out;
}

Tensor mean_masked(const char* node, const Tensor& self, uint64_t mask, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType t = dtype.value_or(self.scalar_type());
  HB_CHECK(is_differentiable_type(t),
           "[mean] mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
           "Got: ",
           toString(t));
  if (self.is_complex() && !is_complex_type(t)) return mean_masked(node, self.to(t), mask, keepdim, t);
  const int64_t count = ops::reduced_count(self, mask);
  const ReduceFinish finish{0, static_cast<double>(count), 0};
  Tensor out =
      ops::run_reduction(self, mask, keepdim, t, t, {ReduceOp::sum, std::numeric_limits<double>::quiet_NaN(), finish});
  if (needs_grad(self))
    record(node, out, {&self}, [sizes = self.impl().sizes(), mask, keepdim, count](Backward& b) {
      Tensor grad = spread(b.grad() / Scalar(static_cast<double>(count)), sizes, mask, keepdim);
      return gradients(returned_as_made(b) ? grad.clone(MemoryFormat::Contiguous) : grad);
    });
  return out;
}

}  // namespace

Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) {
  HB_AUTOCAST(sum, as_is, fp32_dtype, self, dtype);
  if (HB_UNLIKELY(self.layout() != kStrided)) return sparse::sum(self, dtype);
  return sum_masked("SumBackward0", self, ops::reduced_dims("sum", std::nullopt, self.dim()), false, dtype);
}
Tensor sum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  HB_AUTOCAST(sum, as_is, fp32_dtype, self, dim, keepdim, dtype);
  if (HB_UNLIKELY(self.layout() != kStrided)) return sparse::sum(self, dim, keepdim, dtype);
  return sum_masked("SumBackward1", self, ops::reduced_dims("sum", dim, self.dim()), keepdim, dtype);
}
Tensor mean(const Tensor& self, std::optional<ScalarType> dtype) {
  HB_FUNCTION(mean, self, dtype);
  return mean_masked("MeanBackward0", self, ops::reduced_dims("mean", std::nullopt, self.dim()), false, dtype);
}
Tensor mean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  HB_FUNCTION(mean, self, dim, keepdim, dtype);
  return mean_masked("MeanBackward1", self, ops::reduced_dims("mean", dim, self.dim()), keepdim, dtype);
}

Tensor sum_to(const Tensor& self, IntArrayRef shape) {
  const DimVector& sizes = self.impl().sizes();
  HB_CHECK(shape.size() <= sizes.size(), "[sum_to] expected a shape that broadcasts to ", self.sizes(), ", got ",
           shape);
  const size_t lead = sizes.size() - shape.size();
  uint64_t mask = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d < lead || (shape[d - lead] == 1 && sizes[d] != 1))
      mask |= uint64_t{1} << d;
    else
      HB_CHECK(shape[d - lead] == sizes[d], "[sum_to] expected a shape that broadcasts to ", self.sizes(), ", got ",
               shape);
  }
  if (mask == 0) return self;
  Tensor out = sum_masked("SumBackward1", self, mask, true, self.scalar_type());
  return lead ? out.reshape(shape) : out;
}

Tensor nansum(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  HB_FUNCTION(nansum, self, dim, keepdim, dtype);
  HB_CHECK(!self.is_complex(), "[nansum] does not support complex inputs");
  const uint64_t mask = ops::reduced_dims("nansum", dim, self.dim());
  const ScalarType t = sum_dtype(self, dtype);
  if (!is_floating_type(t)) return sum_masked("SumBackward1", self, mask, keepdim, dtype);
  Tensor out = ops::run_reduction(self, mask, keepdim, t, t, {ReduceOp::nansum});
  if (needs_grad(self))
    record("NansumBackward0", out, {&self}, {SavedTensor::input(self)}, [mask, keepdim](Backward& b, auto& s) {
      return gradients(where(isnan(s[0]), Scalar(0), spread(b.grad(), s[0].impl().sizes(), mask, keepdim)));
    });
  return out;
}

// --- products

namespace {

/// Along `dim`: the product of all the other elements.
Tensor product_of_others(const Tensor& x, int64_t dim) {
  const int64_t n = x.size(dim);
  const Tensor one = ones_like(x.narrow(dim, 0, 1));
  const Tensor before = cat({one, x.narrow(dim, 0, n - 1)}, dim).cumprod(dim);
  const Tensor after = cat({one, x.narrow(dim, 1, n - 1).flip({dim})}, dim).cumprod(dim).flip({dim});
  return before * after;
}

Tensor product_gradient(const Tensor& g, const Tensor& x, const Tensor& y, int64_t dim) {
  if (x.numel() == 0) return zeros_like(x);
  const Tensor has_zero = eq(x, Scalar(0)).any();
  if (capture::recorder())
    return where(has_zero, g * product_of_others(x, dim), g * y / x);  // replays look at no number
  return has_zero.item().toBool() ? g * product_of_others(x, dim) : g * y / x;
}

bool complex_result(const Tensor& self, std::optional<ScalarType> dtype) {
  return self.is_complex() || (dtype && is_complex_type(*dtype));
}

Tensor prod_masked(const Tensor& self, uint64_t mask, bool keepdim, std::optional<ScalarType> dtype) {
  const ScalarType t = sum_dtype(self, dtype);
  return ops::run_reduction(self, mask, keepdim, t, t, {ReduceOp::prod, 1});
}

}  // namespace

Tensor prod(const Tensor& self, std::optional<ScalarType> dtype) {
  HB_AUTOCAST(prod, fp32, fp32_dtype, self, dtype);
  if (complex_result(self, dtype)) return ops::complex_prod(dtype ? self.to(*dtype) : self, std::nullopt, false);
  Tensor out = prod_masked(self, ops::reduced_dims("prod", std::nullopt, self.dim()), false, dtype);
  if (needs_grad(self) && out.is_floating_point())
    record("ProdBackward0", out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [](Backward& b, auto& s) {
             return gradients(product_gradient(b.grad(), s[0].reshape(-1), s[1], 0).reshape(s[0].sizes()));
           });
  return out;
}

Tensor prod(const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
  HB_AUTOCAST(prod, fp32, fp32_dtype, self, dim, keepdim, dtype);
  const uint64_t mask = ops::reduced_dim("prod", dim, self.dim());
  if (complex_result(self, dtype)) return ops::complex_prod(dtype ? self.to(*dtype) : self, dim, keepdim);
  Tensor out = prod_masked(self, mask, keepdim, dtype);
  if (needs_grad(self) && out.is_floating_point())
    record("ProdBackward1", out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [mask, dim, keepdim](Backward& b, auto& s) {
             const DimVector& sizes = s[0].impl().sizes();
             if (mask == 0) return gradients(b.grad());
             return gradients(product_gradient(ops::restore_dims(b.grad(), sizes, mask, keepdim), s[0],
                                               ops::restore_dims(s[1], sizes, mask, keepdim), dim));
           });
  return out;
}

// --- truth and counts

namespace {

Tensor truth(const Tensor& self, uint64_t mask, bool keepdim, ReduceOp op) {
  const ScalarType result = self.scalar_type() == kByte ? kByte : kBool;
  return ops::run_reduction(self, mask, keepdim, self.scalar_type(), result, {op, op == ReduceOp::all ? 1.0 : 0.0});
}

/// An empty list of dimensions reduces none, unlike those of sums.
Tensor truth(const char* name, const Tensor& self, OptionalIntArrayRef dim, bool keepdim, ReduceOp op) {
  const bool none = dim && dim->empty();
  return truth(self, none ? 0 : ops::reduced_dims(name, dim, self.dim()), keepdim, op);
}

}  // namespace

Tensor any(const Tensor& self) {
  if (HB_UNLIKELY(self.is_sparse())) return any(self.coalesce()._values());
  return truth(self, ops::reduced_dims("any", std::nullopt, self.dim()), false, ReduceOp::any);
}
Tensor any(const Tensor& self, int64_t dim, bool keepdim) {
  return truth(self, ops::reduced_dim("any", dim, self.dim()), keepdim, ReduceOp::any);
}
Tensor any(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return truth("any", self, dim, keepdim, ReduceOp::any);
}
Tensor all(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return truth("all", self, dim, keepdim, ReduceOp::all);
}
Tensor all(const Tensor& self) {
  return truth(self, ops::reduced_dims("all", std::nullopt, self.dim()), false, ReduceOp::all);
}
Tensor all(const Tensor& self, int64_t dim, bool keepdim) {
  return truth(self, ops::reduced_dim("all", dim, self.dim()), keepdim, ReduceOp::all);
}
Tensor count_nonzero(const Tensor& self, IntArrayRef dim) {
  if (self.is_complex()) return count_nonzero(self != 0, dim);
  return ops::run_reduction(self, ops::reduced_dims("count_nonzero", OptionalIntArrayRef(dim), self.dim()), false,
                            self.scalar_type(), kLong, {ReduceOp::count});
}
Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim) {
  return dim ? count_nonzero(self, IntArrayRef(*dim)) : count_nonzero(self, IntArrayRef());
}

// --- logsumexp

Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  HB_AUTOCAST(logsumexp, as_is, fp32, self, dim, keepdim);
  if (self.is_complex()) return ops::complex_logsumexp(self, dim, keepdim);
  const uint64_t mask = ops::reduced_dims("logsumexp", OptionalIntArrayRef(dim), self.dim());
  Tensor out;
  {
    NoGradGuard no_history;
    const Tensor x = ops::as_floating(self);
    const double inf = std::numeric_limits<double>::infinity();
    Tensor high = ops::run_reduction(x, mask, true, x.scalar_type(), x.scalar_type(), {ReduceOp::max, -inf});
    high.masked_fill_(abs(high) == inf, 0);
    out = log(sum_masked("SumBackward1", exp(x - high), mask, true, std::nullopt)).add_(high);
    if (!keepdim) ops::drop_dims(out, mask);
  }
  if (needs_grad(self))
    record("LogsumexpBackward0", out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [mask, keepdim](Backward& b, auto& s) {
             const DimVector& sizes = s[0].impl().sizes();
             return gradients(ops::restore_dims(b.grad(), sizes, mask, keepdim) *
                              exp(s[0] - ops::restore_dims(s[1], sizes, mask, keepdim)));
           });
  return out;
}

namespace {
Tensor trace(const Tensor& self) {
  HB_AUTOCAST(trace, fp32, closed, self);
  HB_CHECK(self.dim() == 2, "[trace] expected a matrix, but got tensor with dim ", self.dim());
  const ScalarType t = self.scalar_type();
  const bool half_on_cpu = is_half_type(t) && self.device().is_cpu();
  HB_CHECK_SUPPORTED(t != kBool && !half_on_cpu, "[trace] not implemented for '", toString(t), "'");
  if (!needs_grad(self) && (is_floating_type(t) || t == kLong) && self.layout() == kStrided) {
    DimVector length, stride;
    length.push_back(std::min(self.size(0), self.size(1))), stride.push_back(self.stride(0) + self.stride(1));
    const Tensor diagonal =
        detail::make_view_tensor(self, t, std::move(length), std::move(stride), self.storage_offset());
    return ops::run_reduction(diagonal, 1, false, t, t, {ReduceOp::sum});
  }
  return named("TraceBackward0", self.diagonal().sum(), self);
}
}  // namespace

Tensor Tensor::trace() const { return hb::trace(*this); }

}  // namespace hb
