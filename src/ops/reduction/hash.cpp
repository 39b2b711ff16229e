// One number of all bits of a tensor's elements.
#include <vector>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "core/function_watch.h"
#include "ops/reduction/reduce_op.h"

namespace hb {
namespace {

/// Elements as int64: integers' values, and the bits of the double that a floating-point number is.
Tensor words_of(const Tensor& self) {
  HB_CHECK_SUPPORTED(!self.is_complex(), "[hash_tensor] not implemented for '", self.scalar_type(),
                     "': expected real numbers");
  const Tensor values = self.detach();
  return self.is_floating_point() ? values.to(kDouble).contiguous().view(kLong) : values.to(kLong);
}

/// Exclusive or along the last dimension, of which each step joins the halves.
Tensor joined(Tensor words) {
  if (words.size(-1) == 0) return zeros(words.sizes().slice(0, words.dim() - 1), words.options());
  while (words.size(-1) > 1) {
    const int64_t n = words.size(-1), half = n / 2;
    const Tensor both = bitwise_xor(words.narrow(-1, 0, half), words.narrow(-1, half, half));
    words = n % 2 == 0 ? both : cat({both, words.narrow(-1, n - 1, 1)}, -1);
  }
  return words.squeeze(-1);
}

}  // namespace

Tensor hash_tensor(const Tensor& self, IntArrayRef dim, bool keepdim, int64_t mode) {
  HB_FUNCTION(hash_tensor, self, dim, keepdim, mode);
  HB_CHECK(mode == 0, "Unknown hash_tensor mode: ", mode);
  HB_CHECK(self.numel() > 0 || !dim.empty(),
           "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
           "the 'dim' argument.");
  NoGradGuard no_grad;
  const uint64_t dropped = ops::reduced_dims("hash_tensor", dim, self.dim());
  std::vector<int64_t> order, last, shape;  // kept dimensions, then dropped ones as one
  for (int64_t d = 0; d < self.dim(); ++d) {
    const bool drop = dropped >> d & 1;
    HB_CHECK_INDEX(!drop || self.size(d) > 0, "hash_tensor: Expected reduction dim ", d, " to have non-zero size.");
    if (drop)
      last.push_back(d);
    else
      order.push_back(d), shape.push_back(self.size(d));
  }
  order.insert(order.end(), last.begin(), last.end());
  shape.push_back(ops::reduced_count(self, dropped));
  const Tensor words = joined(words_of(self).permute(order).reshape(shape)).view(kUInt64);
  if (!keepdim) return words;
  const DimVector sizes = ops::kept_sizes(self, dropped);
  return words.reshape({sizes.data(), sizes.size()});
}

}  // namespace hb
