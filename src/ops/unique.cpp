// Sets: distinct values, membership, counts, places in sorted rows.
#include "kernels/rows.h"

#include "ops/rows.h"

namespace hb {

namespace {

struct Distinct {
  Tensor first;    // where in the order each distinct item begins
  Tensor inverse;  // which distinct item each original one is
  Tensor counts;
};

// order: the items sorted; fresh[i]: item i of the order differs from the one before it.
Distinct distinct(const Tensor& order, const Tensor& fresh) {
  const Tensor group = fresh.to(kLong).cumsum(0) - 1;
  const Tensor first = fresh.nonzero().reshape(-1);
  const Tensor inverse = empty_like(order).scatter_(0, order, group);
  const Tensor counts = zeros({first.numel()}, order.options()).index_add_(0, group, ones_like(group));
  return {first, inverse, counts};
}

Tensor starts(const Tensor& differs, int64_t n) {
  const Tensor head = ones({std::min<int64_t>(n, 1)}, TensorOptions().dtype(kBool).device(differs.device()));
  return cat({head, differs}, 0);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  const auto [values, order] = sort(self.detach().reshape(-1), 0, false);
  const int64_t n = values.numel();
  const Tensor differs = n ? values.narrow(0, 1, n - 1).ne(values.narrow(0, 0, n - 1)) : empty({0}, kBool);
  const Distinct d = distinct(order, starts(differs, n));
  return {values.index_select(0, d.first), return_inverse ? d.inverse.reshape(self.sizes()) : empty({0}, kLong),
          return_counts ? d.counts : empty({0}, kLong)};
}

std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted, bool return_inverse) {
  auto [values, inverse, counts] = _unique2(self, sorted, return_inverse, false);
  return {values, inverse};
}

std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim_in, bool, bool return_inverse, bool return_counts) {
  const int64_t dim = geometry::wrap_dim("unique_dim", dim_in, self.dim(), false);
  const int64_t n = self.size(dim);
  HB_CHECK(self.numel() > 0 || n == 0, "[unique_dim] There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  const Tensor rows = self.detach().movedim(dim, 0).contiguous().view({n, n ? self.numel() / n : 0});
  Tensor order = empty({n}, TensorOptions().dtype(kLong).device(self.device()));
  lexicographic_order_kernel(self.device())(order, rows);
  const Tensor sorted = rows.index_select(0, order);
  const Tensor differs = n ? sorted.narrow(0, 1, n - 1).ne(sorted.narrow(0, 0, n - 1)).any(1) : empty({0}, kBool);
  const Distinct d = distinct(order, starts(differs, n));
  const Tensor picked = self.detach().index_select(dim, order.index_select(0, d.first));
  return {picked, return_inverse ? d.inverse : empty({0}, kLong), return_counts ? d.counts : empty({0}, kLong)};
}

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right) {
  HB_CHECK(sorted_sequence.dim() > 0, "[searchsorted] boundaries tensor should have positive dimension, got 0 dimension");
  HB_CHECK(sorted_sequence.scalar_type() == self.scalar_type(), "[searchsorted] boundary tensor and input value tensor should have same dtype, "
           "but got boundary tensor dtype ", sorted_sequence.scalar_type(), " and input value tensor dtype ", self.scalar_type());
  if (sorted_sequence.dim() > 1) {
    bool fits = sorted_sequence.dim() == self.dim();
    for (int64_t d = 0; fits && d + 1 < self.dim(); ++d) fits = sorted_sequence.size(d) == self.size(d);
    HB_CHECK(fits, "[searchsorted] boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value "
             "tensor must match, but we got boundaries tensor ", sorted_sequence.sizes(), " and input value tensor ", self.sizes());
  }
  Tensor out = empty(self.sizes(), self.options().dtype(kLong));
  searchsorted_kernel(self.device())(out, sorted_sequence.contiguous(), self.contiguous(), right);
  return out_int32 ? out.to(kInt) : out;
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  HB_CHECK(boundaries.dim() == 1, "[bucketize] boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
  return searchsorted(boundaries, self, out_int32, right);
}

Tensor isin(const Tensor& elements, const Tensor& test_elements) {
  if (test_elements.numel() == 0) return zeros(elements.sizes(), elements.options().dtype(kBool));
  const ScalarType t = result_type(elements, test_elements);
  const Tensor values = elements.to(t).reshape(-1), set = std::get<0>(sort(test_elements.to(t).reshape(-1), 0, false));
  const Tensor at = searchsorted(set, values).clamp_max(set.numel() - 1);
  return set.index_select(0, at).eq(values).reshape(elements.sizes());
}

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  HB_CHECK(self.dim() == 1 && is_integral_type(self.scalar_type(), false), "[bincount] bincount only supports 1-d non-negative integral inputs, got ",
           self.scalar_type(), " ", self.sizes());
  HB_CHECK(minlength >= 0, "[bincount] minlength should be >= 0, got ", minlength);
  HB_CHECK(!weights.defined() || weights.sizes() == self.sizes(), "[bincount] weights should be 1-d and have the same length as input");
  const Tensor at = self.to(kLong);
  if (self.numel() > 0) HB_CHECK(at.min().item<int64_t>() >= 0, "[bincount] bincount only supports 1-d non-negative integral inputs");
  const int64_t bins = std::max(minlength, self.numel() ? at.max().item<int64_t>() + 1 : 0);
  const Tensor counted = !weights.defined() ? ones_like(at) : weights.scalar_type() == kFloat ? weights : weights.to(kDouble);
  return zeros({bins}, counted.options()).index_add(0, at, counted);
}
Tensor bincount(const Tensor& self) { return bincount(self, Tensor(), 0); }

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  HB_CHECK(bins > 0, "[histc] bins must be > 0, but got ", bins);
  HB_CHECK(is_floating_type(self.scalar_type()), "[histc] expected a floating-point dtype, got ", self.scalar_type());
  double low = min.toDouble(), high = max.toDouble();
  const Tensor x = self.detach().reshape(-1);
  if (low == high && x.numel() > 0) low = x.min().item<double>(), high = x.max().item<double>();
  if (low == high) low -= 1, high += 1;
  HB_CHECK(low < high, "[histc] max must be larger than min, got ", low, " and ", high);
  const Tensor inside = x.masked_select(x.ge(low).logical_and(x.le(high)));
  const Tensor at = ((inside - low) * (static_cast<double>(bins) / (high - low))).to(kLong).clamp_max(bins - 1);
  return bincount(at, Tensor(), bins).to(self.scalar_type());
}

}  // namespace hb
