// Elements by mask.
#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/function_watch.h"
#include "core/loop.h"
#include "ops/common/inplace.h"
#include "ops/common/layout.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/indexing/index_op.h"

namespace hb {
namespace {

using ops::gradients;

void check_mask(const char* name, const Tensor& mask) {
  HB_CHECK(mask.scalar_type() == kBool, "[", name,
           "] expected BoolTensor for mask: only supports boolean masks, but got mask with dtype ",
           toString(mask.scalar_type()));
}

/// Contiguous, in the common shape.
Tensor spread(const Tensor& t, const DimVector& sizes) {
  return t.detach().expand(IntArrayRef(sizes.data(), sizes.size())).contiguous();
}

}  // namespace

Tensor nonzero(const Tensor& self) {
  // Any dtype turns into truth by the conversion that `to` does.
  // The kernels' rows are dimensions. As LibTorch's result, of which programs read each one's places through data_ptr.
  return ops::turned(nonzero_kernel(self.device())(self.detach().to(kBool).contiguous()));
}
Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
  HB_CHECK(size >= 0, "[nonzero_static] expected a size that is not negative, got ", size);
  const Tensor found = nonzero(self);
  const int64_t count = std::min(size, found.size(0));
  Tensor out = full({size, self.dim()}, fill_value, found.options());
  out.narrow(0, 0, count).copy_(found.narrow(0, 0, count));
  return out;
}
Tensor argwhere(const Tensor& self) {
  if (self.dim() == 0) return nonzero(self.reshape(1)).narrow(1, 0, 0);
  return nonzero(self);
}

namespace {
/// Without history: `out`, contiguous and new, with values of `source` where the mask is true.
Tensor scattered(Tensor out, const Tensor& mask, const Tensor& source) {
  NoGradGuard no_history;
  masked_scatter_kernel(out.device())(out, spread(mask, out.impl().sizes()), source.contiguous());
  return out;
}
}  // namespace

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  HB_FUNCTION(masked_select, self, mask);
  check_mask("masked_select", mask);
  const DimVector sizes = broadcast_sizes("masked_select", {&self, &mask});
  const Tensor x = spread(self, sizes), m = spread(mask, sizes);
  Tensor out = masked_select_kernel(self.device())(x, m);
  if (needs_grad(self))
    record("MaskedSelectBackward0", out, {&self}, {SavedTensor::input(mask)}, [sizes](Backward& b, auto& s) {
      // The engine sums over the dimensions in which self was broadcast.
      const Tensor zero = zeros(IntArrayRef(sizes.data(), sizes.size()), b.grad().options());
      return gradients(GradMode::is_enabled() ? masked_scatter(zero, s[0], b.grad()) : scattered(zero, s[0], b.grad()));
    });
  return out;
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  HB_FUNCTION(masked_scatter, self, mask, source);
  check_mask("masked_scatter", mask);
  HB_CHECK(self.scalar_type() == source.scalar_type(),
           "[masked_scatter] expected self and source to have same dtypes but got ", toString(self.scalar_type()),
           " and ", toString(source.scalar_type()));
  const DimVector sizes = broadcast_sizes("masked_scatter", {&self, &mask});
  Tensor out = scattered(self.detach().expand(sizes).clone(MemoryFormat::Contiguous), mask, source);
  if (needs_grad(self, source))
    record("MaskedScatterBackward0", out, {&self, &source}, {SavedTensor::input(mask)},
           [shape = source.impl().sizes()](Backward& b, auto& s) {
             Tensor gs;
             if (b.needs(1)) {
               const Tensor used = masked_select(b.grad(), s[0]);
               int64_t count = 1;
               for (int64_t n : shape) count *= n;
               gs = cat({used, zeros({count - used.numel()}, used.options())})
                        .reshape(IntArrayRef(shape.data(), shape.size()));
             }
             return gradients(b.needs(0) ? masked_fill(b.grad(), s[0], 0) : Tensor(), std::move(gs));
           });
  return out;
}

Tensor& masked_scatter_(Tensor& self, const Tensor& mask, const Tensor& source) {
  HB_ONE_DEVICE(masked_scatter_, self, mask, source);
  return inplace("masked_scatter_", self, [&](const Tensor& old) { return masked_scatter(old, mask, source); }, nullptr,
                 {&source});
}

}  // namespace hb
