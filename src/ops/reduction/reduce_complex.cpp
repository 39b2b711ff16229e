#include "ops/reduction/reduce_complex.h"

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/geometry.h"

namespace hb::ops {

Tensor complex_prod(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  if (!dim) return complex_prod(self.reshape(-1), 0, false);
  if (self.dim() == 0) return self.clone();
  const int64_t d = geometry::wrap_dim("prod", *dim, self.dim());
  if (self.size(d) == 0) return ones_like(self.sum(d, keepdim));
  // By halves: as many steps as the logarithm of the number of factors.
  Tensor out = self;
  while (out.size(d) > 1) {
    const int64_t half = out.size(d) / 2;
    const Tensor paired = out.narrow(d, 0, half) * out.narrow(d, half, half);
    out = out.size(d) % 2 ? cat({paired, out.narrow(d, 2 * half, 1)}, d) : paired;
  }
  if (out.is_same(self)) out = out.clone();
  return keepdim ? out : out.squeeze(d);
}

Tensor complex_logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim) {
  if (self.numel() == 0) return log(exp(self).sum(dim, keepdim));
  Tensor high;
  {
    NoGradGuard no_history;
    high = real(self.detach()).amax(dim, true);
    high.masked_fill_(isinf(high), 0);
  }
  const Tensor sums = log(exp(self - high).sum(dim, true)) + high;
  return keepdim ? sums : sums.reshape(high.sum(dim).sizes());
}

}  // namespace hb::ops
