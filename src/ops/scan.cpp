// Running sums, products and extrema along one dimension.
#include <cmath>

#include "kernels/rows.h"

#include "autograd/record.h"
#include "ops/rows.h"

namespace hb {

namespace {

Tensor scanned(const char* name, const Tensor& self, int64_t dim, Scan scan) {
  HB_CHECK(scan != Scan::logsumexp || is_floating_type(self.scalar_type()), "[", name, "] expected a floating-point dtype, got ",
           self.scalar_type());
  const Tensor rows = ops::as_rows(self, dim);
  Tensor out = empty_like(rows, {}, MemoryFormat::Contiguous);
  scan_kernel(self.device())(out, rows, scan);
  return ops::from_rows(out, self, dim);
}

// Integers are summed as int64.
Tensor summable(const Tensor& self, std::optional<ScalarType> dtype) {
  if (dtype) return self.to(*dtype);
  return is_integral_type(self.scalar_type(), true) ? self.to(kLong) : self;
}

Tensor reverse_cumsum(const Tensor& t, int64_t dim) { return t.flip(dim).cumsum(dim).flip(dim); }

// d out_i / d x_k is the product of the other factors up to i.
Tensor cumprod_backward(const Tensor& g, const Tensor& x, const Tensor& y, int64_t dim) {
  if (x.dim() == 0) return g;
  if (!x.eq(0).any().item<bool>()) return reverse_cumsum(g * y, dim) / x;
  const int64_t n = x.size(dim);
  std::vector<Tensor> parts;
  for (int64_t k = 0; k < n; ++k) {
    Tensor others = ones_like(x.narrow(dim, k, 1));
    if (k > 0) others = y.narrow(dim, k - 1, 1);
    Tensor factors = others;
    if (k + 1 < n) factors = cat({others, others * x.narrow(dim, k + 1, n - k - 1).cumprod(dim)}, dim);
    parts.push_back((g.narrow(dim, k, n - k) * factors).sum(dim, true));
  }
  return cat(parts, dim);
}

// log of what is positive, -inf elsewhere; summed in log space so that nothing overflows.
Tensor logcumsumexp_backward(const Tensor& g, const Tensor& x, const Tensor& y, int64_t dim) {
  if (x.dim() == 0) return g;
  const auto part = [&](const Tensor& positive) {
    const Tensor log_g = where(positive.gt(0), positive.abs().log(), -INFINITY);
    return ((log_g - y).flip(dim).logcumsumexp(dim).flip(dim) + x).exp();
  };
  return part(g) - part(g.neg());
}

}  // namespace

Tensor cumsum(const Tensor& self_in, int64_t dim_in, std::optional<ScalarType> dtype) {
  const Tensor self = summable(self_in, dtype);
  const int64_t dim = geometry::wrap_dim("cumsum", dim_in, self.dim());
  Tensor out = scanned("cumsum", self, dim, Scan::sum);
  if (needs_grad(self))
    record("CumsumBackward0", out, {&self}, [dim](Backward& b) -> variable_list { return {reverse_cumsum(b.grad(), dim)}; });
  return out;
}

Tensor cumprod(const Tensor& self_in, int64_t dim_in, std::optional<ScalarType> dtype) {
  const Tensor self = summable(self_in, dtype);
  const int64_t dim = geometry::wrap_dim("cumprod", dim_in, self.dim());
  Tensor out = scanned("cumprod", self, dim, Scan::prod);
  if (needs_grad(self))
    record("CumprodBackward0", out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [dim](Backward& b, auto& s) -> variable_list { return {cumprod_backward(b.grad(), s[0], s[1], dim)}; });
  return out;
}

Tensor logcumsumexp(const Tensor& self, int64_t dim_in) {
  const int64_t dim = geometry::wrap_dim("logcumsumexp", dim_in, self.dim());
  Tensor out = scanned("logcumsumexp", self, dim, Scan::logsumexp);
  if (needs_grad(self))
    record("LogcumsumexpBackward0", out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [dim](Backward& b, auto& s) -> variable_list { return {logcumsumexp_backward(b.grad(), s[0], s[1], dim)}; });
  return out;
}

namespace {
TensorTuple2 running_extremum(const char* name, const Tensor& self, int64_t dim_in, bool largest) {
  const int64_t dim = geometry::wrap_dim(name, dim_in, self.dim());
  const Tensor rows = ops::as_rows(self, dim);
  Tensor values = empty_like(rows), indices = empty_like(rows, TensorOptions().dtype(kLong));
  running_extremum_kernel(self.device())(values, indices, rows, largest);
  values = ops::from_rows(values, self, dim), indices = ops::from_rows(indices, self, dim);
  if (needs_grad(self))
    record(name, values, {&self}, [dim, indices](Backward& b) -> variable_list {
      return {zeros_like(b.grad()).scatter_add(dim, indices, b.grad())};
    });
  return {values, indices};
}
}  // namespace

TensorTuple2 cummax(const Tensor& self, int64_t dim) { return running_extremum("cummax", self, dim, true); }
TensorTuple2 cummin(const Tensor& self, int64_t dim) { return running_extremum("cummin", self, dim, false); }

Tensor diff(const Tensor& self, int64_t n, int64_t dim) {
  HB_CHECK(self.dim() > 0, "[diff] expects input to be at least one-dimensional");
  HB_CHECK(n >= 0, "[diff] order must be non-negative but got ", n);
  Tensor out = self;
  for (int64_t k = 0; k < n && out.size(dim) > 0; ++k) {
    const int64_t length = out.size(dim) - 1;
    const Tensor later = out.narrow(dim, 1, length), earlier = out.narrow(dim, 0, length);
    out = self.scalar_type() == kBool ? later.logical_xor(earlier) : later - earlier;
  }
  return out;
}

}  // namespace hb
