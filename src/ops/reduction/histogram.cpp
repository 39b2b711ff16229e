// Counts of values in bins, and reductions of segments.
#include <cmath>
#include <limits>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "backend/sort.h"
#include "core/function_watch.h"
#include "core/geometry.h"
#include "core/value_range.h"
#include "ops/common/or_undefined.h"

namespace hb {

namespace {

void check_histogram(const Tensor& self, const std::optional<Tensor>& weight) {
  HB_CHECK(self.scalar_type() == kFloat || self.scalar_type() == kDouble,
           "[histogram] expected an input of dtype Float or Double, got ", self.scalar_type());
  if (!weight || !weight->defined()) return;
  HB_CHECK(weight->scalar_type() == self.scalar_type(), "[histogram] expected a weight of the dtype ",
           self.scalar_type(), ", got ", weight->scalar_type());
  HB_CHECK(weight->sizes() == self.sizes(), "[histogram] expected a weight of the shape ", self.sizes(), ", got ",
           weight->sizes());
}

/// Each bin holds its left edge, the last one both.
Tensor counts_between(const Tensor& edges, const Tensor& self, const std::optional<Tensor>& weight) {
  const Tensor x = self.detach().reshape(-1), last = edges.select(0, -1);
  const int64_t bins = edges.numel() - 1;
  const Tensor inside = logical_and(x >= edges.select(0, 0), x <= last);
  const Tensor kept = x.masked_select(inside);
  const Tensor bin = searchsorted(edges, kept, false, /*right=*/true).sub(1).clamp_max(bins - 1);
  const Tensor weights = weight && weight->defined() ? weight->detach().reshape(-1).masked_select(inside) : Tensor();
  return bincount(bin, weights, bins).to(self.scalar_type());
}

TensorTuple2 histogram_of(const Tensor& edges, const Tensor& self, const std::optional<Tensor>& weight, bool density) {
  NoGradGuard no_grad;
  Tensor counts = counts_between(edges, self, weight);
  if (density) counts = counts / (edges.diff() * counts.sum());
  return {counts, edges};
}

}  // namespace

TensorTuple2 histogram(const Tensor& self, const Tensor& bins, const std::optional<Tensor>& weight, bool density) {
  HB_FUNCTION(histogram, self, bins, weight, density);
  check_histogram(self, weight);
  HB_CHECK(bins.dim() == 1 && bins.numel() > 0, "[histogram] expected bin edges of 1 dimension, got shape ",
           bins.sizes());
  HB_CHECK(bins.scalar_type() == self.scalar_type(), "[histogram] expected bin edges of the dtype ", self.scalar_type(),
           ", got ", bins.scalar_type());
  return histogram_of(bins.detach().clone(), self, weight, density);
}

TensorTuple2 histogram(const Tensor& self, int64_t bins, std::optional<ArrayRef<double>> range,
                       const std::optional<Tensor>& weight, bool density) {
  HB_FUNCTION(histogram, self, bins, range, weight, density);
  check_histogram(self, weight);
  HB_CHECK(bins > 0, "[histogram] expected a number of bins above 0, got ", bins);
  double low = 0, high = self.numel() > 0 ? 0 : 1;
  if (range) {
    HB_CHECK(range->size() == 2, "[histogram] expected a range of 2 numbers, got ", range->size());
    low = (*range)[0], high = (*range)[1];
  } else if (self.numel() > 0) {
    low = self.detach().min().item().toDouble(), high = self.detach().max().item().toDouble();
  }
  HB_CHECK(std::isfinite(low) && std::isfinite(high), "[histogram] expected a finite range, got ", low, " to ", high);
  HB_CHECK(low <= high, "[histogram] expected a range whose end is not below its start, got ", low, " to ", high);
  if (low == high) low -= 0.5, high += 0.5;
  return histogram_of(linspace(low, high, bins + 1, self.options()), self, weight, density);
}

TensorTuple2 Tensor::histogram(const Tensor& bins, const std::optional<Tensor>& weight, bool density) const {
  return hb::histogram(*this, bins, weight, density);
}
TensorTuple2 Tensor::histogram(int64_t bins, std::optional<ArrayRef<double>> range, const std::optional<Tensor>& weight,
                               bool density) const {
  return hb::histogram(*this, bins, range, weight, density);
}

// --- segments

namespace {

struct Segments {
  Tensor lengths;  // (…, segments)
  Tensor of;       // (…, elements): the number of each element's segment
};

/// Lengths from offsets (…, segments + 1).
Tensor lengths_of(const std::optional<Tensor>& lengths, const std::optional<Tensor>& offsets) {
  HB_CHECK(lengths.has_value() || offsets.has_value(), "[segment_reduce] expected either lengths or offsets, got none");
  const Tensor given = (offsets ? *offsets : *lengths).detach();
  HB_CHECK(is_integral_type(given.scalar_type(), false),
           "[segment_reduce] expected lengths or offsets of integers, got ", given.scalar_type());
  return (offsets ? given.diff() : given).to(kLong);
}

Segments segments_of(const Tensor& data, const Tensor& lengths, int64_t axis, bool unsafe) {
  HB_CHECK(lengths.dim() == axis + 1, "[segment_reduce] expected lengths of ", axis + 1, " dimensions for axis ", axis,
           ", got ", lengths.sizes());
  const int64_t n = data.size(axis);
  if (!unsafe) {
    HB_CHECK(lengths.numel() == 0 || lengths.min().item().toLong() >= 0,
             "[segment_reduce] lengths contains negative value!");
    HB_CHECK((lengths.sum(-1) == n).all().item().toBool(), "[segment_reduce] expected lengths that sum to ", n,
             ", the size of data along the axis");
  }
  // An element lies in the segment after all those that end at or before it.
  const Tensor ends = lengths.cumsum(-1).contiguous();
  std::vector<int64_t> shape = lengths.sizes().vec();
  shape.back() = n;
  const Tensor place = arange(n, lengths.options().dtype(kLong)).expand(shape).contiguous();
  return {lengths, searchsorted(ends, place, false, /*right=*/true)};
}

}  // namespace

Tensor segment_reduce(const Tensor& data, std::string_view reduce, const std::optional<Tensor>& lengths,
                      const std::optional<Tensor>& indices, const std::optional<Tensor>& offsets, int64_t axis,
                      bool unsafe, const std::optional<Scalar>& initial) {
  HB_FUNCTION(segment_reduce, data, reduce, lengths, indices, offsets, axis, unsafe, initial);
  HB_CHECK(!indices, "[segment_reduce] indices are not supported; give lengths or offsets");
  HB_CHECK(data.numel() > 0, "[segment_reduce] expected data that is not empty");
  HB_CHECK(data.is_floating_point(), "[segment_reduce] expected data of a floating point dtype, got ",
           data.scalar_type());
  const bool low = reduce == "max", high = reduce == "min", mean = reduce == "mean", prod = reduce == "prod";
  HB_CHECK(low || high || mean || prod || reduce == "sum",
           "[segment_reduce] expected a reduction max, mean, min, sum or prod, got ", reduce);
  const int64_t d = geometry::wrap_dim("segment_reduce", axis, data.dim());
  const Segments s = segments_of(data, lengths_of(lengths, offsets), d, unsafe);
  const double inf = std::numeric_limits<double>::infinity();
  const Scalar start = initial ? *initial : Scalar(low ? -inf : high ? inf : prod ? 1.0 : 0.0);
  std::vector<int64_t> shape = data.sizes().vec(), tail(s.of.sizes().vec());
  shape[d] = s.lengths.size(-1);
  tail.resize(static_cast<size_t>(data.dim()), 1);
  const Tensor index = s.of.view(tail).expand(data.sizes());
  const std::string_view how = low ? "amax" : high ? "amin" : prod ? "prod" : "sum";
  const Tensor sums = scatter_reduce(full(shape, start, data.options()), d, index, data, how);
  if (!mean) return sums;
  std::vector<int64_t> counts(s.lengths.sizes().vec());
  counts.resize(static_cast<size_t>(data.dim()), 1);
  const Tensor length = s.lengths.view(counts).to(data.scalar_type());
  // Nothing in a segment: no mean, but for one that was given.
  return sums / (initial ? length.clamp_min(1) : length);
}

Tensor bincount(const Tensor& self, const std::optional<Tensor>& weights_or_none, int64_t minlength) {
  HB_DEFINED(bincount, self);
  const Tensor& weights = or_undefined(weights_or_none);
  HB_CHECK(self.dim() == 1 || self.numel() == 0,
           "[bincount] only supports 1-d non-negative integral inputs, got shape ", self.sizes());
  HB_CHECK_SUPPORTED(is_integral_type(self.scalar_type(), false), "[bincount] only supports integral inputs, got ",
                     toString(self.scalar_type()));
  HB_CHECK(minlength >= 0, "[bincount] minlength should be >= 0, got ", minlength);
  const Tensor values = self.to(kLong).contiguous();
  int64_t n = minlength;
  if (values.numel() > 0) {
    HB_CHECK(values.min().item().toLong() >= 0, "[bincount] only supports 1-d non-negative integral inputs.");
    const int64_t largest = values.max().item().toLong();
    HB_CHECK(largest < std::numeric_limits<int64_t>::max(), "[bincount] maximum value of input overflowed, got ",
             largest);
    n = std::max(n, largest + 1);
  }
  const bool counts_nothing = self.dim() == 1 && self.numel() == 0;  // in PyTorch integers then, whatever the weights
  if (weights.defined() && !counts_nothing) {
    HB_CHECK(weights.sizes() == self.sizes(),
             "[bincount] weights should be 1-d and have the same length as input, got ", weights.sizes());
    const Tensor w = weights.detach().to(weights.scalar_type() == kFloat ? kFloat : kDouble).contiguous();
    Tensor counts = zeros({n}, w.options());
    bincount_kernel(self.device())(counts, values, w);
    return counts;
  }
  Tensor counts = zeros({n}, values.options());
  bincount_kernel(self.device())(counts, values, Tensor());
  return counts;
}

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  HB_DEFINED(histc, self);
  HB_CHECK_SUPPORTED(self.is_floating_point(), "[histc] is not supported for dtype ", toString(self.scalar_type()));
  HB_CHECK(bins > 0, "[histc] bins must be > 0, but got ", bins);
  check_value_fits("histc", self.scalar_type(), min);
  check_value_fits("histc", self.scalar_type(), max);
  double low = min.toDouble(), high = max.toDouble();
  const Tensor all = self.detach().reshape(-1);
  if (low == high && all.numel() > 0) {
    const auto [least, most] = aminmax(all);
    low = least.item().toDouble(), high = most.item().toDouble();
  }
  if (low == high) low -= 1, high += 1;
  HB_CHECK(std::isfinite(low) && std::isfinite(high), "[histc] range of [", low, ", ", high, "] is not finite");
  HB_CHECK(low < high, "[histc] max must be larger than min, got ", low, " and ", high);
  const Tensor counts = zeros({bins}, self.options().dtype(kLong));
  histogram_kernel(self.device())(counts, all.contiguous(), low, high);
  return counts.to(self.scalar_type());
}

}  // namespace hb
