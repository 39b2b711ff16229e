// Integrals and derivatives of sampled functions.
#include <halfbridge/ops.h>

#include "core/function_watch.h"
#include "core/geometry.h"

namespace hb {

namespace {

using geometry::wrap_dim;

void check_samples(const char* name, const Tensor& y) {
  HB_CHECK(y.scalar_type() != kBool, "[", name, "] expected samples of a number dtype, got Bool");
}

/// The two ends of each interval along d.
Tensor left(const Tensor& t, int64_t d) { return t.narrow(d, 0, t.size(d) - 1); }
Tensor right(const Tensor& t, int64_t d) { return t.narrow(d, 1, t.size(d) - 1); }

/// The lengths of the intervals, broadcast to y: x holds the places along d, for all lines or line by line.
Tensor intervals(const char* name, const Tensor& y, const Tensor& x, int64_t d) {
  HB_CHECK(x.scalar_type() != kBool, "[", name, "] expected places of a number dtype, got Bool");
  if (x.dim() == 1) {
    HB_CHECK(x.size(0) == y.size(d), "[", name, "] expected ", y.size(d), " places, as many as samples, got ",
             x.size(0));
    std::vector<int64_t> shape(static_cast<size_t>(y.dim()), 1);
    shape[d] = x.size(0) - 1;
    return x.diff().view(shape);
  }
  // Leading dimensions are added, so that d is the same one.
  std::vector<int64_t> shape(static_cast<size_t>(std::max<int64_t>(y.dim() - x.dim(), 0)), 1);
  shape.insert(shape.end(), x.sizes().begin(), x.sizes().end());
  const Tensor places = x.reshape(shape);
  return right(places, d) - left(places, d);
}

Tensor none_along(const Tensor& y, int64_t d) {
  std::vector<int64_t> shape = y.sizes().vec();
  shape.erase(shape.begin() + d);
  return zeros(shape, y.options());
}

}  // namespace

Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  HB_FUNCTION(trapezoid, y, x, dim);
  const int64_t d = wrap_dim("trapezoid", dim, y.dim(), false);
  check_samples("trapezoid", y);
  if (y.size(d) == 0) return none_along(y, d);
  return ((left(y, d) + right(y, d)) * intervals("trapezoid", y, x, d)).sum(d) / 2;
}
Tensor trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  HB_FUNCTION(trapezoid, y, dx, dim);
  const int64_t d = wrap_dim("trapezoid", dim, y.dim(), false);
  check_samples("trapezoid", y);
  if (y.size(d) == 0) return none_along(y, d);
  return (y.sum(d) - (y.select(d, 0) + y.select(d, -1)) * 0.5) * dx.toDouble();
}

Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  HB_FUNCTION(cumulative_trapezoid, y, x, dim);
  const int64_t d = wrap_dim("cumulative_trapezoid", dim, y.dim(), false);
  check_samples("cumulative_trapezoid", y);
  if (y.size(d) == 0) return y / 2;  // of the dtype that areas have
  return ((left(y, d) + right(y, d)) * intervals("cumulative_trapezoid", y, x, d)).cumsum(d) / 2;
}
Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  HB_FUNCTION(cumulative_trapezoid, y, dx, dim);
  const int64_t d = wrap_dim("cumulative_trapezoid", dim, y.dim(), false);
  check_samples("cumulative_trapezoid", y);
  if (y.size(d) == 0) return y / 2;  // of the dtype that areas have
  return (left(y, d) + right(y, d)).cumsum(d) * (dx.toDouble() / 2);
}

// --- derivatives

namespace {

/// Sample k along d, which stays as a dimension of size 1.
Tensor sample(const Tensor& x, int64_t d, int64_t k) { return x.narrow(d, k < 0 ? x.size(d) + k : k, 1); }

/// With equal steps.
Tensor derivative(const Tensor& x, int64_t d, double step, int64_t edge_order) {
  const int64_t n = x.size(d);
  const Tensor inner = (x.narrow(d, 2, n - 2) - x.narrow(d, 0, n - 2)) / 2;
  Tensor first = sample(x, d, 1) - sample(x, d, 0), last = sample(x, d, -1) - sample(x, d, -2);
  if (edge_order == 2) {
    first = sample(x, d, 0) * -1.5 + sample(x, d, 1) * 2 - sample(x, d, 2) * 0.5;
    last = sample(x, d, -3) * 0.5 - sample(x, d, -2) * 2 + sample(x, d, -1) * 1.5;
  }
  return cat({first, inner, last}, d) / step;
}

/// The slope at the middle, the first and the last of three places that lie h and k apart, from the values there.
struct Slopes {
  Tensor h, k;
  Tensor at_middle(const Tensor& a, const Tensor& b, const Tensor& c) const {
    return a * (-k / (h * (h + k))) + b * ((k - h) / (h * k)) + c * (h / (k * (h + k)));
  }
  Tensor at_first(const Tensor& a, const Tensor& b, const Tensor& c) const {
    return a * -((h * 2 + k) / (h * (h + k))) + b * ((h + k) / (h * k)) - c * (h / (k * (h + k)));
  }
  Tensor at_last(const Tensor& a, const Tensor& b, const Tensor& c) const {
    return a * (k / (h * (h + k))) - b * ((h + k) / (h * k)) + c * ((h + k * 2) / (k * (h + k)));
  }
};

/// At the places given.
Tensor derivative(const Tensor& x, int64_t d, const Tensor& places, int64_t edge_order) {
  const int64_t n = x.size(d);
  HB_CHECK(places.dim() == 1 && places.size(0) == n, "[gradient] expected ", n, " coordinates for dimension ", d,
           ", got shape ", places.sizes());
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[d] = n - 1;
  const Tensor step = places.diff().view(shape);
  const Slopes inner{left(step, d), right(step, d)};
  const Tensor middle = inner.at_middle(x.narrow(d, 0, n - 2), x.narrow(d, 1, n - 2), x.narrow(d, 2, n - 2));
  Tensor first, last;
  if (edge_order == 2) {
    const Slopes begin{sample(step, d, 0), sample(step, d, 1)}, end{sample(step, d, -2), sample(step, d, -1)};
    first = begin.at_first(sample(x, d, 0), sample(x, d, 1), sample(x, d, 2));
    last = end.at_last(sample(x, d, -3), sample(x, d, -2), sample(x, d, -1));
  } else {
    first = (sample(x, d, 1) - sample(x, d, 0)) / sample(step, d, 0);
    last = (sample(x, d, -1) - sample(x, d, -2)) / sample(step, d, -1);
  }
  return cat({first, middle, last}, d);
}

/// spacing(i): what stands for the i-th of `dims`, a number or a tensor of places.
template <class Spacing>
std::vector<Tensor> derivatives(const Tensor& self, std::vector<int64_t> dims, int64_t edge_order, Spacing spacing) {
  HB_CHECK(edge_order == 1 || edge_order == 2, "[gradient] expected an edge_order of 1 or 2, got ", edge_order);
  HB_CHECK(self.scalar_type() != kByte && self.scalar_type() != kBool, "[gradient] is not supported for dtype ",
           self.scalar_type());
  uint64_t seen = 0;
  std::vector<Tensor> out;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t d = wrap_dim("gradient", dims[i], self.dim(), false);
    HB_CHECK(!(seen >> d & 1), "[gradient] dim ", d, " appears multiple times in the list of dims");
    seen |= uint64_t{1} << d;
    HB_CHECK(self.size(d) > edge_order, "[gradient] expected each dimension size to be at least edge_order + 1, got ",
             self.sizes());
    out.push_back(derivative(self, d, spacing(i), edge_order));
  }
  return out;
}

std::vector<int64_t> these_dims(const Tensor& self, std::optional<int64_t> dim) {
  if (dim) return {*dim};
  std::vector<int64_t> all;
  for (int64_t d = 0; d < self.dim(); ++d) all.push_back(d);
  return all;
}
void check_count(size_t spacings, size_t dims) {
  HB_CHECK(spacings == dims, "[gradient] expected one spacing for each of ", dims, " dimensions, got ", spacings);
}

}  // namespace

std::vector<Tensor> gradient(const Tensor& self, const std::optional<Scalar>& spacing, std::optional<int64_t> dim,
                             int64_t edge_order) {
  const double step = spacing ? spacing->toDouble() : 1;
  return derivatives(self, these_dims(self, dim), edge_order, [=](size_t) { return step; });
}
std::vector<Tensor> gradient(const Tensor& self, const Scalar& spacing, IntArrayRef dim, int64_t edge_order) {
  return derivatives(self, dim.vec(), edge_order, [&](size_t) { return spacing.toDouble(); });
}
std::vector<Tensor> gradient(const Tensor& self, IntArrayRef dim, int64_t edge_order) {
  return derivatives(self, dim.vec(), edge_order, [](size_t) { return 1.0; });
}
std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing, std::optional<int64_t> dim,
                             int64_t edge_order) {
  const auto dims = these_dims(self, dim);
  check_count(spacing.size(), dims.size());
  return derivatives(self, dims, edge_order, [&](size_t i) { return spacing[i].toDouble(); });
}
std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing, IntArrayRef dim, int64_t edge_order) {
  check_count(spacing.size(), dim.size());
  return derivatives(self, dim.vec(), edge_order, [&](size_t i) { return spacing[i].toDouble(); });
}
std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, std::optional<int64_t> dim, int64_t edge_order) {
  const auto dims = these_dims(self, dim);
  check_count(spacing.size(), dims.size());
  return derivatives(self, dims, edge_order, [&](size_t i) { return spacing[i]; });
}
std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, IntArrayRef dim, int64_t edge_order) {
  check_count(spacing.size(), dim.size());
  return derivatives(self, dim.vec(), edge_order, [&](size_t i) { return spacing[i]; });
}

}  // namespace hb
