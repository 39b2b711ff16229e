// Orders along one dimension: sorted values, largest ones, medians, quantiles.
#include <cmath>

#include "kernels/rows.h"

#include "autograd/record.h"
#include "ops/rows.h"

namespace hb {

namespace {

// The gradient of values picked along a dimension goes to where they stood.
void record_pick(const char* name, Tensor& values, const Tensor& indices, const Tensor& self, int64_t dim, bool keepdim = true) {
  if (!needs_grad(self)) return;
  record(name, values, {&self}, [=, sizes = self.impl().sizes()](Backward& b) -> variable_list {
    if (sizes.empty()) return {b.grad().reshape({})};
    const Tensor g = keepdim ? b.grad() : b.grad().unsqueeze(dim), at = keepdim ? indices : indices.unsqueeze(dim);
    return {zeros(sizes, g.options()).scatter_add(dim, at, g)};
  });
}

// One value of each row: (rows) from (rows, length).
template <class Pick>
TensorTuple2 pick_one(const char* name, const Tensor& self, int64_t dim_in, bool keepdim, Pick pick) {
  const int64_t dim = geometry::wrap_dim(name, dim_in, self.dim());
  HB_CHECK_INDEX(self.dim() == 0 || self.size(dim) > 0, "[", name, "] Expected reduction dim ", dim, " to have non-zero size.");
  const Tensor rows = ops::as_rows(self, dim);
  auto [values, indices] = pick(rows);  // (…, 1)
  values = ops::from_rows(values, self, dim), indices = ops::from_rows(indices, self, dim);
  if (!keepdim && self.dim() > 0) values = values.squeeze(dim).detach(), indices = indices.squeeze(dim);
  record_pick(name, values, indices, self, dim, keepdim);
  return {values, indices};
}

std::pair<Tensor, Tensor> sorted_rows(const Tensor& rows, bool descending) {
  Tensor values = empty_like(rows), indices = empty_like(rows, TensorOptions().dtype(kLong));
  sort_kernel(rows.device())(values, indices, rows, descending);
  return {values, indices};
}

}  // namespace

TensorTuple2 sort(const Tensor& self, std::optional<bool>, int64_t dim_in, bool descending) {
  const int64_t dim = geometry::wrap_dim("sort", dim_in, self.dim());
  auto [values, indices] = sorted_rows(ops::as_rows(self, dim), descending);
  values = ops::from_rows(values, self, dim), indices = ops::from_rows(indices, self, dim);
  record_pick("SortBackward0", values, indices, self, dim);
  return {values, indices};
}
TensorTuple2 sort(const Tensor& self, int64_t dim, bool descending) { return sort(self, std::optional<bool>(false), dim, descending); }
Tensor argsort(const Tensor& self, int64_t dim, bool descending) { return std::get<1>(sort(self.detach(), dim, descending)); }
Tensor msort(const Tensor& self) { return std::get<0>(sort(self, 0, false)); }

TensorTuple2 topk(const Tensor& self, int64_t k, int64_t dim_in, bool largest, bool) {
  const int64_t dim = geometry::wrap_dim("topk", dim_in, self.dim());
  HB_CHECK(k >= 0 && k <= (self.dim() ? self.size(dim) : 1), "[topk] selected index k out of range: got k = ", k, " for a dimension of size ",
           self.dim() ? self.size(dim) : 1);
  const Tensor rows = ops::as_rows(self, dim);
  DimVector sizes = rows.impl().sizes();
  sizes.back() = k;
  Tensor values = empty(sizes, rows.options()), indices = empty(sizes, rows.options().dtype(kLong));
  topk_kernel(self.device())(values, indices, rows, k, largest);
  values = ops::from_rows(values, self, dim), indices = ops::from_rows(indices, self, dim);
  record_pick("TopkBackward0", values, indices, self, dim);
  return {values, indices};
}

TensorTuple2 kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  HB_CHECK(k >= 1 && k <= (self.dim() ? self.size(dim) : 1), "[kthvalue] selected number k out of range for dimension ", dim, ": got k = ", k);
  return pick_one("kthvalue", self, dim, keepdim, [k](const Tensor& rows) {
    auto [values, indices] = sorted_rows(rows, false);
    return std::pair(values.narrow(-1, k - 1, 1), indices.narrow(-1, k - 1, 1));
  });
}

TensorTuple2 median(const Tensor& self, int64_t dim, bool keepdim) {
  return pick_one("median", self, dim, keepdim, [](const Tensor& rows) {
    auto [values, indices] = sorted_rows(rows, false);
    const int64_t n = rows.size(-1);
    // The lower of two middle ones; a NaN, which sorts last, wins.
    const Tensor last = values.narrow(-1, n - 1, 1), nan = last.ne(last);
    Tensor at = where(nan, full_like(nan, n - 1, TensorOptions().dtype(kLong)), Scalar((n - 1) / 2));
    const Tensor first_nan = values.ne(values).to(kLong).sum(-1, true);
    at = where(nan, at - first_nan + 1, at);
    return std::pair(values.gather(-1, at), indices.gather(-1, at));
  });
}

Tensor median(const Tensor& self) {
  if (self.numel() == 0) return full({}, NAN, self.options());
  return std::get<0>(median(self.reshape(-1), 0, false));
}

TensorTuple2 mode(const Tensor& self, int64_t dim, bool keepdim) {
  return pick_one("mode", self, dim, keepdim, [](const Tensor& rows) {
    DimVector sizes = rows.impl().sizes();
    sizes.back() = 1;
    Tensor values = empty(sizes, rows.options()), indices = empty(sizes, rows.options().dtype(kLong));
    mode_kernel(rows.device())(values, indices, rows);
    return std::pair(values, indices);
  });
}

Tensor quantile(const Tensor& self, double q, std::optional<int64_t> dim_in, bool keepdim) {
  HB_CHECK(self.scalar_type() == kFloat || self.scalar_type() == kDouble, "[quantile] input tensor must be either float or double dtype");
  HB_CHECK(self.numel() > 0, "[quantile] input tensor must be non-empty");
  HB_CHECK(q >= 0 && q <= 1, "[quantile] q must be in the range [0, 1] but got ", q);
  const Tensor source = dim_in ? self : self.flatten();
  const int64_t dim = geometry::wrap_dim("quantile", dim_in.value_or(0), source.dim());
  const Tensor sorted = std::get<0>(sort(source, dim, false));
  const int64_t n = sorted.dim() ? sorted.size(dim) : 1;
  const double rank = q * static_cast<double>(n - 1);
  const int64_t low = static_cast<int64_t>(rank), high = std::min(low + 1, n - 1);
  Tensor out = sorted.narrow(dim, low, 1).lerp(sorted.narrow(dim, high, 1), rank - static_cast<double>(low));
  out = where(sorted.narrow(dim, n - 1, 1).isnan(), full_like(out, NAN), out);
  if (!dim_in) return keepdim ? out.reshape(std::vector<int64_t>(self.dim(), 1)) : out.reshape({});
  return keepdim ? out : out.squeeze(dim);
}

}  // namespace hb
