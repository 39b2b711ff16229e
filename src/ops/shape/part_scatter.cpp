// A copy of self, where a view has the values of src.
#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/geometry.h"
#include "ops/common/layout.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {
namespace {

/// A copy with the strides of self, gaps included.
Tensor strided_copy(const Tensor& self) {
  const DimVector strides(self.strides());
  if (ops::strides_of_clone(self) == strides || geometry::overlaps_itself(self.impl().sizes(), strides))
    return self.clone();
  return empty_strided(self.sizes(), self.strides(), self.options()).copy_(self);
}

/// How many elements the memory of `t` holds.
int64_t held_by(const Tensor& t) { return static_cast<int64_t>(t.impl().storage()->nbytes() / t.impl().itemsize()); }

/// A copy of all the memory of self, seen as self sees its own: as_strided finds the same elements there.
Tensor memory_copy(const Tensor& self) {
  if (geometry::overlaps_itself(self.impl().sizes(), self.impl().strides())) return self.clone();
  const Tensor memory = self.as_strided(held_by(self), 1, 0).clone();
  TensorImpl& i = self.impl();
  return Tensor(
      make_intrusive<TensorImpl>(memory.impl().storage(), i.dtype(), i.sizes(), DimVector(i.strides()), i.offset()));
}

void check_part(const char* name, const Tensor& part, const Tensor& src) {
  HB_CHECK(part.sizes().equals(src.sizes()), "[", name, "] expected a source of the part's sizes ", part.sizes(),
           ", got ", src.sizes());
}

/// The gradient of src is a part of the result's; that of self has zeros there.
template <class View>
Tensor with_part(const char* name, const char* node, const Tensor& self, const Tensor& src, View view) {
  Tensor out;
  {
    NoGradGuard no_history;
    out = strided_copy(self);
    Tensor part = view(out);
    check_part(name, part, src);
    part.copy_(src);
  }
  if (needs_grad(self, src) && is_differentiable_type(out.scalar_type()))
    record(node, out, {&self, &src}, [=, sizes = src.impl().sizes()](Backward& b) {
      Tensor gself, gsrc;
      if (b.needs(0)) gself = with_part(name, node, b.grad(), zeros(sizes, b.grad().options()), view);
      if (b.needs(1)) gsrc = view(b.grad());
      return ops::gradients(std::move(gself), std::move(gsrc));
    });
  return out;
}

}  // namespace

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  return with_part("select_scatter", "SelectScatterBackward0", self, src,
                   [=](const Tensor& t) { return t.select(dim, index); });
}
Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start,
                     std::optional<int64_t> end, int64_t step) {
  return with_part("slice_scatter", "SliceScatterBackward0", self, src,
                   [=](const Tensor& t) { return t.slice(dim, start, end, step); });
}
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  return with_part("diagonal_scatter", "DiagonalScatterBackward0", self, src,
                   [=](const Tensor& t) { return t.diagonal(offset, dim1, dim2); });
}
Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size, IntArrayRef stride,
                          std::optional<int64_t> storage_offset) {
  Tensor out;
  {
    NoGradGuard no_history;
    out = memory_copy(self);
    Tensor part = out.as_strided(size, stride, storage_offset);
    check_part("as_strided_scatter", part, src);
    part.copy_(src);
  }
  if (needs_grad(self, src)) {
    const int64_t held = held_by(out), own_offset = out.storage_offset(), at = storage_offset.value_or(own_offset);
    record("AsStridedScatterBackward0", out, {&self, &src},
           [held, own_offset, at, own_sizes = out.impl().sizes(), own_strides = DimVector(out.strides()),
            sizes = DimVector(size), strides = DimVector(stride)](Backward& b) {
             Tensor memory = zeros({held}, b.grad().options()), gs;
             memory.as_strided(own_sizes, own_strides, own_offset).copy_(b.grad());
             Tensor part = memory.as_strided(sizes, strides, at);
             if (b.needs(1)) gs = part.clone();
             if (!b.needs(0)) return ops::gradients(Tensor(), std::move(gs));
             part.zero_();
             return ops::gradients(memory.as_strided(own_sizes, own_strides, own_offset), std::move(gs));
           });
  }
  return out;
}

}  // namespace hb
