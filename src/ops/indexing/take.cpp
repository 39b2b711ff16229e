// Elements of the flattened tensor by index: take, put_.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "ops/common/inplace.h"
#include "ops/common/layout.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/indexing/index_op.h"

namespace hb {

using ops::gradients;

namespace {
constexpr int64_t kFlattened = -1;  // the dimension of an index into all elements
}

Tensor take(const Tensor& self, const Tensor& index) {
  HB_FUNCTION(take, self, index);
  HB_CHECK(index.scalar_type() == kLong, "[take] Expected a long tensor for index, but got ",
           toString(index.scalar_type()));
  if (const Tensor at = index.contiguous(); self.numel() > 0 && ops::picks_places(self, {at})) {
    IndexedSizes all;
    all.add(self.numel(), kFlattened);
    return ops::pick_places("take", self.reshape(-1), 0, {at}, all).view(index.sizes());
  }
  const Tensor at = ops::in_range("take", index.reshape(-1), self.numel(), kFlattened);
  return named("TakeBackward0", index_select(self.reshape(-1), 0, at).reshape(index.sizes()), self);
}

namespace {
/// Contiguous.
Tensor put_flat(const Tensor& self, const Tensor& at, const Tensor& source, bool accumulate) {
  const Tensor flat = self.reshape(-1), values = source.reshape(-1);
  return (accumulate ? index_add(flat, 0, at, values) : index_copy(flat, 0, at, values)).reshape(self.sizes());
}
}  // namespace

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  HB_ONE_DEVICE(put, self, index, source);
  HB_CHECK(index.scalar_type() == kLong, "[put] Expected a long tensor for index, but got ",
           toString(index.scalar_type()));
  HB_CHECK_INDEX(index.numel() == source.numel(),
                 "[put] Expected source and index to have the same number of elements, but got source.numel() = ",
                 source.numel(), ", index.numel() = ", index.numel());
  const Tensor at = ops::in_range("put", index.reshape(-1), self.numel(), kFlattened);
  Tensor out = ops::in_strides(put_flat(self.detach(), at, source.detach(), accumulate), ops::strides_of_clone(self));
  if (needs_grad(self, source))
    record("PutBackward0", out, {&self, &source}, {SavedTensor::input(at)},
           [accumulate, shape = source.impl().sizes()](Backward& b, auto& s) {
             const Tensor& g = b.grad();
             return gradients(!b.needs(0)  ? Tensor()
                              : accumulate ? g
                                           : put(g, s[0], zeros({s[0].numel()}, g.options())),
                              b.needs(1) ? take(g, s[0]).reshape(IntArrayRef(shape.data(), shape.size())) : Tensor());
           });
  return out;
}
Tensor& put_(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  return inplace("put_", self, [&](const Tensor& old) { return put(old, index, source, accumulate); }, nullptr,
                 {&source});
}

}  // namespace hb
