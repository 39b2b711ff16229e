// quantile and nanquantile.
#include <cmath>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "core/geometry.h"

namespace hb {

namespace {

/// Values at the ranks (…, q) of the sorted lines (…, n).
Tensor at_ranks(const Tensor& sorted, const Tensor& ranks, std::string_view interpolation) {
  const auto at = [&](const Tensor& places) { return sorted.gather(-1, places.to(kLong)); };
  if (interpolation == "lower") return at(floor(ranks));
  if (interpolation == "higher") return at(ceil(ranks));
  if (interpolation == "nearest") return at(round(ranks));
  const Tensor below = floor(ranks);
  const Tensor weight = interpolation == "midpoint" ? full_like(ranks, 0.5) : ranks - below;
  return lerp(at(below), at(ceil(ranks)), weight);
}

Tensor quantiles(const char* name, const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                 std::string_view interpolation, bool ignore_nan) {
  const ScalarType t = self.scalar_type();
  HB_CHECK(self.numel() > 0, "[", name, "] input tensor must be non-empty");
  HB_CHECK(t == kFloat || t == kDouble, "[", name, "] input tensor must be either float or double dtype, got ", t);
  HB_CHECK(q.scalar_type() == t, "[", name, "] expected q of the input's dtype ", t, ", got ", q.scalar_type());
  HB_CHECK(q.dim() <= 1, "[", name, "] q must be a scalar or 1D tensor, got shape ", q.sizes());
  HB_CHECK(interpolation == "linear" || interpolation == "lower" || interpolation == "higher" ||
               interpolation == "midpoint" || interpolation == "nearest",
           "[", name, "] interpolation must be one of linear, lower, higher, midpoint or nearest, but got ",
           interpolation);
  const Tensor x = dim && self.dim() > 0 ? self : self.reshape(-1);
  const int64_t d = geometry::wrap_dim(name, self.dim() > 0 ? dim.value_or(0) : 0, x.dim());
  if (dim) geometry::wrap_dim(name, *dim, self.dim());
  const Tensor sorted = std::get<0>(sort(x.movedim(d, -1), -1));  // NaN stands last
  const int64_t n = sorted.size(-1);
  const Tensor nan = isnan(sorted.detach()), points = q.detach().reshape(-1);
  std::vector<int64_t> shape = sorted.sizes().vec();
  shape.back() = points.numel();
  Tensor ranks;
  if (ignore_nan)
    ranks = (points * (nan.logical_not().sum(-1, true) - 1)).clamp_min(0);
  else  // a line that has a NaN gives it
    ranks = (points * (n - 1)).expand(shape).masked_fill(nan.select(-1, n - 1).unsqueeze(-1), n - 1);
  Tensor out = at_ranks(sorted, ranks.to(t), interpolation).movedim(-1, 0);  // q first
  if (keepdim && dim && self.dim() > 0) out = out.unsqueeze(d + 1);
  if (keepdim && !dim) {
    std::vector<int64_t> ones(static_cast<size_t>(self.dim()) + 1, 1);
    ones[0] = points.numel();
    out = out.reshape(ones);
  }
  return q.dim() == 0 ? out.squeeze(0) : out;
}

void check_points(const char* name, const Tensor& q) {
  if (q.numel() == 0) return;
  const Tensor inside = logical_and(q >= 0, q <= 1);
  HB_CHECK(inside.all().item().toBool(), "[", name, "] q values must be in the range [0, 1]");
}
Tensor point(const char* name, const Tensor& self, double q) {
  HB_CHECK(q >= 0 && q <= 1, "[", name, "] q must be in the range [0, 1] but got ", q);
  return scalar_tensor(q, self.options());
}

}  // namespace

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  HB_AUTOCAST(quantile, fp32, as_is, self, q, dim, keepdim, interpolation);
  check_points("quantile", q);
  return quantiles("quantile", self, q, dim, keepdim, interpolation, false);
}
Tensor quantile(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  HB_AUTOCAST(quantile, fp32, as_is, self, q, dim, keepdim, interpolation);
  return quantiles("quantile", self, point("quantile", self, q), dim, keepdim, interpolation, false);
}
Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  HB_AUTOCAST(nanquantile, fp32, as_is, self, q, dim, keepdim, interpolation);
  check_points("nanquantile", q);
  return quantiles("nanquantile", self, q, dim, keepdim, interpolation, true);
}
Tensor nanquantile(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  HB_AUTOCAST(nanquantile, fp32, as_is, self, q, dim, keepdim, interpolation);
  return quantiles("nanquantile", self, point("nanquantile", self, q), dim, keepdim, interpolation, true);
}

}  // namespace hb
