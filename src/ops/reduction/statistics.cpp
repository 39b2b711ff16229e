// Reductions written with others: nanmean, covariance.
#include <halfbridge/ops.h>

#include "core/function_watch.h"

namespace hb {

Tensor nanmean(const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  HB_DEFINED(nanmean, self);
  HB_CHECK(self.is_floating_point(), "[nanmean] expected a floating point dtype, got ", self.scalar_type());
  const Tensor counted = isnan(self.detach()).logical_not();
  return nansum(self, dim, keepdim, dtype) / counted.sum(dim, keepdim);
}

Tensor cov(const Tensor& self, int64_t correction, const std::optional<Tensor>& fweights,
           const std::optional<Tensor>& aweights) {
  HB_CHECK(self.dim() <= 2, "[cov] expected a tensor of at most 2 dimensions, got ", self.dim());
  HB_CHECK(self.scalar_type() != kBool, "[cov] bool dtype is not supported");
  const Tensor rows = self.dim() < 2 ? self.reshape({1, self.numel()}) : self;
  Tensor weights;
  for (const auto& given : {fweights, aweights}) {
    if (!given) continue;
    HB_CHECK(given->dim() <= 1 && given->numel() == rows.size(1), "[cov] expected one weight for each of ",
             rows.size(1), " observations, got ", given->sizes());
    weights = weights.defined() ? weights * *given : *given;
  }
  const int64_t n = rows.size(1);
  const Tensor total = weights.defined() ? weights.sum() : scalar_tensor(n, self.options().dtype(kLong));
  const Tensor mean = weights.defined() ? (rows * weights).sum(1, true) / total : rows.sum(1, true) / n;
  Tensor divisor = total - correction;
  if (weights.defined() && aweights) divisor = total - correction * (weights * *aweights).sum() / total;
  if ((divisor <= 0).item<bool>())
    detail::warn(
        "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.");
  const Tensor centred = rows - mean;
  const Tensor product = matmul(centred, (weights.defined() ? centred * weights : centred).t().conj());
  return (product / divisor.clamp_min(0)).squeeze();
}

Tensor Tensor::cov(int64_t correction, const std::optional<Tensor>& fweights,
                   const std::optional<Tensor>& aweights) const {
  return hb::cov(*this, correction, fweights, aweights);
}

Tensor corrcoef(const Tensor& self) {
  const Tensor c = cov(self);
  if (c.dim() == 0) return c / c;
  const Tensor deviation = sqrt(real(c.diagonal()));
  const Tensor r = c / deviation.unsqueeze(-1) / deviation.unsqueeze(0);
  return r.is_complex() ? complex(real(r).clamp(-1, 1), imag(r).clamp(-1, 1)) : r.clamp(-1, 1);
}

}  // namespace hb
