// Counts of points in bins of several dimensions.
#include <algorithm>
#include <cmath>
#include <vector>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "backend/sort.h"
#include "core/function_watch.h"
#include "ops/common/or_undefined.h"

namespace hb {
namespace {

constexpr const char* kName = "torch.histogramdd";

void check_points(const Tensor& self, const std::optional<Tensor>& weight) {
  HB_CHECK(self.dim() >= 2, kName, ": input tensor should have at least 2 dimensions");
  HB_CHECK_SUPPORTED(self.scalar_type() == kFloat || self.scalar_type() == kDouble, kName, ": not implemented for '",
                     self.scalar_type(), "'");
  const Tensor& w = or_undefined(weight);
  if (!w.defined()) return;
  HB_CHECK(w.scalar_type() == self.scalar_type(), kName,
           ": if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got input(",
           self.scalar_type(), "), and weight(", w.scalar_type(), ")");
  HB_CHECK(w.sizes().equals(self.sizes().slice(0, self.dim() - 1)), kName,
           ": if weight tensor is provided it should have the same shape as the input tensor excluding its innermost "
           "dimension, but got input with shape ",
           self.sizes(), " and weight with shape ", w.sizes());
}

void check_edges(const Tensor& self, TensorList edges) {
  const int64_t dims = self.size(-1);
  HB_CHECK(static_cast<int64_t>(edges.size()) == dims, kName, ": expected ", dims, " sequences of bin edges for a ",
           dims, "-dimensional histogram but got ", edges.size());
  for (int64_t d = 0; d < dims; ++d) {
    HB_CHECK(edges[d].scalar_type() == self.scalar_type(), kName,
             ": input tensor and bins tensors should have the same dtype, but got input with dtype ",
             self.scalar_type(), " and bins for dimension ", d, " with dtype ", edges[d].scalar_type());
    HB_CHECK(edges[d].dim() == 1, kName, ": bins tensor should have one dimension, but got ", edges[d].dim(),
             " dimensions in the bins tensor for dimension ", d);
    HB_CHECK(edges[d].numel() > 1, kName, ": bins must be > 0, but got ", edges[d].numel() - 1, " for dimension ", d);
  }
}

struct Ends {
  double low, high;
};
/// Where the bins along dimension d begin and end.
Ends ends_of(const Tensor& points, int64_t d, std::optional<ArrayRef<double>> range) {
  Ends e{0, points.numel() > 0 ? 0.0 : 1.0};
  if (range) {
    e = {(*range)[2 * d], (*range)[2 * d + 1]};
  } else if (points.numel() > 0) {
    const auto [least, most] = aminmax(points.select(1, d));
    e = {least.item().toDouble(), most.item().toDouble()};
  }
  HB_CHECK(std::isfinite(e.low) && std::isfinite(e.high), kName, ": dimension ", d, "'s range [", e.low, ", ", e.high,
           "] is not finite");
  HB_CHECK(e.low <= e.high, kName, ": min should not exceed max, but got min ", e.low, " max ", e.high,
           " for dimension ", d);
  if (e.low == e.high) e.low -= 0.5, e.high += 0.5;
  return e;
}

/// self (…, D) as (points, D), without history.
Tensor points_of(const Tensor& self) { return self.detach().reshape({-1, self.size(-1)}); }
/// A reshape to no columns cannot tell how many rows there are.
bool has_columns(const Tensor& self) { return self.size(-1) > 0; }

/// How many of the points, or how much weight, lie in each bin, of which each holds its first edges, and the last along
/// a dimension both.
Tensor counts_in(const Tensor& self, TensorList edges, const std::optional<Tensor>& weight) {
  const Tensor points = points_of(self);
  std::vector<int64_t> shape;
  int64_t bins = 1;
  Tensor place = zeros({points.size(0)}, points.options().dtype(kLong));
  Tensor inside = ones({points.size(0)}, points.options().dtype(kBool));
  for (int64_t d = 0; d < points.size(1); ++d) {
    const Tensor along = edges[d].detach().contiguous(), x = points.select(1, d).contiguous();
    const int64_t n = along.numel() - 1;
    inside = logical_and(inside, logical_and(x >= along.select(0, 0), x <= along.select(0, -1)));
    place = place * n + searchsorted(along, x, false, /*right=*/true).sub(1).clamp_max(n - 1);
    shape.push_back(n), bins *= n;
  }
  const Tensor& w = or_undefined(weight);
  const Tensor weights = w.defined() ? w.detach().reshape(-1).masked_select(inside) : Tensor();
  return bincount(place.masked_select(inside), weights, bins).to(self.scalar_type()).view(shape);
}

/// Divides by the sum and by what a bin measures.
Tensor as_density(Tensor counts, TensorList edges) {
  counts = counts / counts.sum();
  std::vector<int64_t> shape(edges.size(), 1);
  for (size_t d = 0; d < edges.size(); ++d) {
    shape[d] = -1;
    counts = counts / edges[d].detach().diff().view(shape);
    shape[d] = 1;
  }
  return counts;
}

Tensor histogram_in(const Tensor& self, TensorList edges, const std::optional<Tensor>& weight, bool density) {
  NoGradGuard no_grad;
  const Tensor counts = counts_in(self, edges, weight);
  return density ? as_density(counts, edges) : counts;
}

}  // namespace

std::vector<Tensor> _histogramdd_bin_edges(const Tensor& self, IntArrayRef bins, std::optional<ArrayRef<double>> range,
                                           const std::optional<Tensor>& weight, bool density) {
  HB_FUNCTION(_histogramdd_bin_edges, self, bins, range, weight, density);
  check_points(self, weight);
  const int64_t dims = self.size(-1);
  HB_CHECK(has_columns(self), kName, ": expected points of at least one dimension, got input with shape ",
           self.sizes());
  HB_CHECK(static_cast<int64_t>(bins.size()) == dims,
           "histogramdd: The size of bins must be equal to the innermost dimension of the input.");
  for (int64_t d = 0; d < dims; ++d)
    HB_CHECK(bins[d] > 0, kName, ": bins must be > 0, but got ", bins[d], " for dimension ", d);
  HB_CHECK(!range || static_cast<int64_t>(range->size()) == 2 * dims, kName, ": for a ", dims,
           "-dimensional histogram range should have ", 2 * dims, " elements, but got ", range ? range->size() : 0);
  NoGradGuard no_grad;
  const Tensor points = points_of(self);
  std::vector<Tensor> edges;
  for (int64_t d = 0; d < dims; ++d) {
    const Ends e = ends_of(points, d, range);
    edges.push_back(linspace(e.low, e.high, bins[d] + 1, self.options()));
  }
  return edges;
}
Tensor _histogramdd_from_bin_cts(const Tensor& self, IntArrayRef bins, std::optional<ArrayRef<double>> range,
                                 const std::optional<Tensor>& weight, bool density) {
  return histogram_in(self, _histogramdd_bin_edges(self, bins, range, weight, density), weight, density);
}
Tensor _histogramdd_from_bin_tensors(const Tensor& self, TensorList bins, const std::optional<Tensor>& weight,
                                     bool density) {
  HB_FUNCTION(_histogramdd_from_bin_tensors, self, bins, weight, density);
  check_points(self, weight);
  HB_CHECK(has_columns(self), kName, ": expected points of at least one dimension, got input with shape ",
           self.sizes());
  check_edges(self, bins);
  return histogram_in(self, bins, weight, density);
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, IntArrayRef bins,
                                                    std::optional<ArrayRef<double>> range,
                                                    const std::optional<Tensor>& weight, bool density) {
  std::vector<Tensor> edges = _histogramdd_bin_edges(self, bins, range, weight, density);
  Tensor counts = histogram_in(self, edges, weight, density);
  return {std::move(counts), std::move(edges)};
}
std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, int64_t bins,
                                                    std::optional<ArrayRef<double>> range,
                                                    const std::optional<Tensor>& weight, bool density) {
  HB_CHECK(self.dim() >= 2, kName, ": input tensor should have at least 2 dimensions");
  return histogramdd(self, IntArrayRef(std::vector<int64_t>(self.size(-1), bins)), range, weight, density);
}
std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, TensorList bins,
                                                    std::optional<ArrayRef<double>> /*range*/,
                                                    const std::optional<Tensor>& weight, bool density) {
  Tensor counts = _histogramdd_from_bin_tensors(self, bins, weight, density);
  std::vector<Tensor> edges;
  for (const Tensor& along : bins) edges.push_back(along.clone());
  return {std::move(counts), std::move(edges)};
}

}  // namespace hb
