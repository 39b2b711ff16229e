// One number of all bits of a tensor's elements.
#include <vector>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "core/function_watch.h"
#include "core/geometry.h"

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
  std::vector<bool> dropped(static_cast<size_t>(self.dim()), dim.empty());
  for (const int64_t d : dim) {
    const int64_t place = geometry::wrap_dim("hash_tensor", d, self.dim());
    if (self.dim() == 0) continue;
    HB_CHECK(!dropped[place], "dim ", place, " appears multiple times in the list of dims");
    HB_CHECK_INDEX(self.size(place) > 0, "hash_tensor: Expected reduction dim ", place, " to have non-zero size.");
    dropped[place] = true;
  }
  std::vector<int64_t> order, kept, shape;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!dropped[d]) order.push_back(d), kept.push_back(self.size(d));
    if (!dropped[d] || keepdim) shape.push_back(dropped[d] ? 1 : self.size(d));
  }
  int64_t each = 1;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (dropped[d]) order.push_back(d), each *= self.size(d);
  kept.push_back(each);
  return joined(words_of(self).permute(order).reshape(kept)).reshape(shape).view(kUInt64);
}

}  // namespace hb
