// Running results along a dimension.

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "backend/sort.h"
#include "core/empty_contiguous.h"
#include "core/geometry.h"
#include "core/offered_memory.h"
#include "core/value_range.h"
#include "ops/common/inplace.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/reduction/reduce_op.h"

namespace hb {
namespace {

using ops::gradients;

ScalarType running_dtype(const Tensor& self, std::optional<ScalarType> dtype) {
  if (dtype) return *dtype;
  return is_integral_type(self.scalar_type(), true) ? kLong : self.scalar_type();
}

Tensor run(const Tensor& self, int64_t d, ScalarType t, ScanOp op) {
  const Tensor x = self.detach().to(t).contiguous();
  Tensor out = empty_result(x.impl().sizes(), t, x.device());
  scan_kernel(self.device())(out, Tensor(), x, ops::lines_of(x, d), op);
  return out;
}

Tensor reversed_sum(const Tensor& g, int64_t d) { return flip(cumsum(flip(g, d), d), d); }

/// With a factor of zero: the products of all factors but one, one by one.
Tensor cumprod_gradient_with_zeros(const Tensor& g, const Tensor& x, int64_t d) {
  const int64_t n = x.size(d);
  // (..., k, j): factor j, with 1 in place of factor k.
  const Tensor moved = x.movedim(d, -1), gm = g.movedim(d, -1);
  const Tensor own = eye(n, x.options().dtype(kBool));
  const Tensor others = where(own, Scalar(1), moved.unsqueeze(-2).expand([&] {
    std::vector<int64_t> s = moved.sizes().vec();
    s.insert(s.end() - 1, n);
    return s;
  }()));
  return (others.cumprod(-1).triu() * gm.unsqueeze(-2)).sum(-1).movedim(-1, d);
}

/// Results of 1, 2, 4, ... elements, joined by functions that take complex numbers.
template <class Join>
Tensor run_by_doubling(const Tensor& x, int64_t d, Join join) {
  if (x.dim() == 0) return x.clone();
  Tensor out = x;
  for (int64_t step = 1; step < x.size(d); step *= 2) {
    const int64_t rest = x.size(d) - step;
    out = cat({out.narrow(d, 0, step), join(out.narrow(d, step, rest), out.narrow(d, 0, rest))}, d);
  }
  return out.is_same(x) ? x.clone() : out;
}

/// log(exp(a) + exp(b)) of complex numbers, with the larger real part taken out.
Tensor log_add_exp(const Tensor& a, const Tensor& b) {
  const Tensor larger = maximum(real(a.detach()), real(b.detach()));
  const Tensor scale = where(isfinite(larger), larger, Scalar(0));
  return log(exp(a - scale) + exp(b - scale)) + scale;
}

}  // namespace

Tensor cumsum(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  HB_AUTOCAST(cumsum, as_is, fp32_dtype, self, dim, dtype);
  const int64_t d = geometry::wrap_dim("cumsum", dim, self.dim());
  if (dtype && *dtype != self.scalar_type() && (self.is_complex() || is_complex_type(*dtype)))
    return cumsum(self.to(*dtype), dim, dtype);
  if (self.is_complex()) return self.dim() ? view_as_complex(cumsum(view_as_real(self), d)) : self.clone();
  Tensor out = run(self, d, running_dtype(self, dtype), ScanOp::sum);
  if (needs_grad(self) && out.is_floating_point())
    record("CumsumBackward0", out, {&self}, [d](Backward& b) { return gradients(reversed_sum(b.grad(), d)); });
  return out;
}

Tensor cumprod(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  HB_AUTOCAST(cumprod, as_is, fp32_dtype, self, dim, dtype);
  const int64_t d = geometry::wrap_dim("cumprod", dim, self.dim());
  if (self.is_complex() || (dtype && is_complex_type(*dtype)))
    return run_by_doubling(dtype ? self.to(*dtype) : self, d, [](const Tensor& a, const Tensor& b) { return a * b; });
  Tensor out = run(self, d, running_dtype(self, dtype), ScanOp::prod);
  if (needs_grad(self) && out.is_floating_point())
    record("CumprodBackward0", out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [d](Backward& b, auto& s) {
             const Tensor &x = s[0], &y = s[1];
             if (x.numel() == 0 || x.dim() == 0) return gradients(b.grad());
             if (any(x == 0).item().toBool()) return gradients(cumprod_gradient_with_zeros(b.grad(), x, d));
             return gradients(reversed_sum(b.grad() * y, d) / x);
           });
  return out;
}

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  HB_DEFINED(logcumsumexp, self);
  HB_CHECK_SUPPORTED(self.is_floating_point() || self.is_complex(), "[logcumsumexp] not implemented for '",
                     toString(self.scalar_type()), "': expected a floating or a complex dtype");
  const int64_t d = geometry::wrap_dim("logcumsumexp", dim, self.dim());
  if (self.is_complex()) return run_by_doubling(self, d, log_add_exp);
  Tensor out = run(self, d, self.scalar_type(), ScanOp::log_sum_exp);
  if (needs_grad(self))
    record("LogcumsumexpBackward0", out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [d](Backward& b, auto& s) {
             // The gradient's positive and negative parts in logarithms, so that nothing overflows. The logarithm of
             // what does not count is finite, for this formula's own gradient.
             const Tensor &g = b.grad(), &x = s[0], &y = s[1];
             const Scalar low = -largest_finite(x.scalar_type());
             const auto part = [&](const Tensor& share, const Tensor& where_it_counts) {
               const Tensor l = where(where_it_counts, log(share), low);
               return exp(flip(logcumsumexp(flip(l - y, d), d), d) + x);
             };
             return gradients(part(g, g > 0) - part(neg(g), g < 0));
           });
  return out;
}

namespace {

TensorTuple2 running_extremum(const char* name, const char* node, const Tensor& self, int64_t dim, ScanOp op) {
  const int64_t d = geometry::wrap_dim(name, dim, self.dim());
  const Tensor x = self.detach().contiguous();
  Tensor values = empty_contiguous(x.impl().sizes(), x.scalar_type(), x.device());
  Tensor indices = empty_contiguous(x.impl().sizes(), kLong, x.device());
  scan_kernel(self.device())(values, indices, x, ops::lines_of(x, d), op);
  if (needs_grad(self))
    record(node, values, {&self}, {SavedTensor::input(indices)}, [d](Backward& b, auto& s) {
      if (b.grad().dim() == 0) return gradients(b.grad());
      return gradients(zeros_like(b.grad()).scatter_add_(d, s[0], b.grad()));
    });
  return {values, indices};
}

}  // namespace

TensorTuple2 cummax(const Tensor& self, int64_t dim) {
  return running_extremum("cummax", "CummaxBackward0", self, dim, ScanOp::max);
}
TensorTuple2 cummin(const Tensor& self, int64_t dim) {
  return running_extremum("cummin", "CumminBackward0", self, dim, ScanOp::min);
}

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
            const std::optional<Tensor>& append) {
  HB_CHECK(self.dim() >= 1, "[diff] diff expects input to be at least one-dimensional");
  HB_CHECK(n >= 0, "[diff] order must be non-negative but got ", n);
  const int64_t d = geometry::wrap_dim("diff", dim, self.dim());
  Tensor x = self;
  if (n > 0 && (prepend || append)) {
    std::vector<Tensor> parts{self};
    if (prepend) parts.insert(parts.begin(), *prepend);
    if (append) parts.push_back(*append);
    x = cat(parts, d);
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t length = std::max<int64_t>(x.size(d) - 1, 0);
    const Tensor after = x.narrow(d, std::min<int64_t>(1, x.size(d)), length), before = x.narrow(d, 0, length);
    x = x.scalar_type() == kBool ? logical_xor(after, before) : after - before;
  }
  return n == 0 ? self.clone() : x;
}

Tensor& cumsum_(Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return inplace("cumsum_", self, [&](const Tensor& x) { return cumsum(x, dim, dtype); });
}
Tensor& cumprod_(Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return inplace("cumprod_", self, [&](const Tensor& x) { return cumprod(x, dim, dtype); });
}

}  // namespace hb
