// Distinct values.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

#include <halfbridge/engine.h>

#include "backend/distinct.h"
#include "backend/sort.h"
#include "ops/common/without_gradient.h"

namespace hb {
namespace {

struct Distinct {
  Tensor values, inverse, counts;
};

/// No elements, on the device of `x`.
Tensor none_of(const Tensor& x, ScalarType dtype) { return empty({0}, x.options().dtype(dtype)); }

/// `first`: where a run of equal neighbours starts in sorted order; `order`: the original places in sorted order.
Distinct from_runs(const Tensor& first, const Tensor& order, bool want_inverse, bool want_counts) {
  Distinct d;
  const Tensor starts = first.nonzero().reshape(-1);
  d.values = order.index_select(0, starts);  // one original place per value
  if (want_inverse) d.inverse = zeros_like(order).scatter(0, order, first.to(kLong).cumsum(0) - 1);
  if (want_counts) d.counts = cat({starts, full({1}, order.numel(), order.options())}).diff();
  return d;
}

/// True at the first element and wherever `changed` says that a sorted element differs from the one before.
Tensor run_starts(const Tensor& changed, int64_t n) {
  if (n == 0) return empty({0}, changed.options());
  return cat({ones({1}, changed.options()), changed});
}

/// Whether each element of a line but the first differs from the one before it.
Tensor changes(const Tensor& line) {
  const int64_t n = line.numel();
  return n > 1 ? line.slice(0, 1) != line.slice(0, 0, n - 1) : none_of(line, kBool);
}

/// The runs of a contiguous line: `inverse` counts places of the line.
Distinct runs_of(const Tensor& line, bool want_inverse, bool want_counts) {
  const TensorOptions places = line.options().dtype(kLong);
  Distinct d;
  if (!distinct_kernel.available(line.device()) || line.is_complex()) {
    const int64_t n = line.numel();
    d = from_runs(run_starts(changes(line), n), arange(n, places), want_inverse, want_counts);
    d.values = line.index_select(0, d.values);
    return d;
  }
  d.values = empty_like(line);
  if (want_inverse) d.inverse = empty({line.numel()}, places);
  if (want_counts) d.counts = empty({line.numel()}, places);
  const int64_t runs = distinct_kernel(line.device())(d.values, d.inverse, d.counts, line);
  d.values = d.values.narrow(0, 0, runs).variable_data();
  if (want_counts) d.counts = d.counts.narrow(0, 0, runs).variable_data();
  return d;
}

/// Whether each of the rows (n, m) but the first differs from the row before it.
Tensor differing_neighbours(const Tensor& rows) {
  const int64_t n = rows.size(0);
  const Tensor differs = rows.slice(0, 1) != rows.slice(0, 0, n - 1);
  return differs.size(1) ? differs.any(1) : zeros({n - 1}, differs.options());
}

/// Rows without elements cannot be told apart.
void check_row_sizes(const Tensor& self, int64_t dim) {
  const int64_t rows = self.size(dim);
  const auto zeros = std::count(self.sizes().begin(), self.sizes().end(), 0);
  HB_CHECK(rows || zeros == 1,
           "[unique] Number of zero sized dimensions is more than one, so unique cannot be applied");
  HB_CHECK(!rows || zeros == 0,
           "[unique] There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
}

/// The places of rows (n, m) in sorted order.
Tensor lexicographic_order(const Tensor& rows) {
  Tensor order = arange(rows.size(0), rows.options().dtype(kLong));
  if (row_order_kernel.available(rows.device()) && !rows.is_complex()) {
    row_order_kernel(rows.device())(order, rows.contiguous());
    return order;
  }
  // From their last column to their first: a stable sort by each.
  for (int64_t c = rows.size(1) - 1; c >= 0; --c)
    order = order.index_select(0, rows.select(1, c).index_select(0, order).argsort(0, false));
  return order;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  const Tensor flat = self.detach().reshape(-1);
  Tensor sorted, order;
  if (!return_inverse && sorted_values_kernel.available(flat.device())) {
    sorted = empty_like(flat);
    sorted_values_kernel(flat.device())(sorted, flat.contiguous());
  } else {
    std::tie(sorted, order) = flat.sort(0);
  }
  Distinct d = runs_of(sorted, return_inverse, return_counts);
  if (return_inverse) d.inverse = empty_like(order).scatter_(0, order, d.inverse);
  return {ops::without_gradient("_unique2", d.values, self),
          return_inverse ? d.inverse.reshape(self.sizes()) : none_of(flat, kLong),
          return_counts ? d.counts : none_of(flat, kLong)};
}

std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted, bool return_inverse) {
  const auto [values, inverse, counts] = _unique2(self, sorted, return_inverse, false);
  return {values, inverse};
}

// With a dimension LibTorch gives all three, whatever was asked for.
std::tuple<Tensor, Tensor, Tensor> unique_dim_consecutive(const Tensor& self, int64_t dim, bool /*return_inverse*/,
                                                          bool /*return_counts*/) {
  check_row_sizes(self, dim);
  const Tensor x = self.detach();
  const int64_t n = x.size(dim);
  Tensor changed = none_of(x, kBool);
  if (n > 1) {
    const Tensor rows = x.movedim(dim, 0).reshape({n, x.numel() / n});
    changed = differing_neighbours(rows);
  }
  const Distinct d = from_runs(run_starts(changed, n), arange(n, x.options().dtype(kLong)), true, true);
  return {ops::without_gradient("unique_dim_consecutive", x.index_select(dim, d.values), self), d.inverse, d.counts};
}

std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts,
                                                      std::optional<int64_t> dim) {
  if (dim) return unique_dim_consecutive(self, *dim, return_inverse, return_counts);
  const Distinct d = runs_of(self.detach().reshape(-1).contiguous(), return_inverse, return_counts);
  const Tensor none = none_of(self, kLong);
  return {ops::without_gradient("unique_consecutive", d.values, self),
          return_inverse ? d.inverse.reshape(self.sizes()) : none, return_counts ? d.counts : none};
}

std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim, bool, bool, bool) {
  check_row_sizes(self, dim);
  const int64_t n = self.size(dim);
  const Tensor rows = self.detach().movedim(dim, 0).reshape({n, n ? self.numel() / n : 0});
  const Tensor order = lexicographic_order(rows);
  const Tensor sorted = rows.index_select(0, order);
  Tensor changed = none_of(self, kBool);
  if (n > 1) changed = differing_neighbours(sorted);
  const Distinct d = from_runs(run_starts(changed, n), order, true, true);
  return {ops::without_gradient("unique_dim", self.detach().index_select(dim, d.values), self), d.inverse, d.counts};
}

}  // namespace hb
