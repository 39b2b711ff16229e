#include "ops/common/layout.h"

#include <halfbridge/ops.h>

#include <halfbridge/grad_mode.h>

#include "autograd/record.h"
#include "backend/conv.h"
#include "core/geometry.h"
#include "core/physical.h"

namespace hb::ops {
namespace {

Tensor raw(const Tensor& like, DimVector strides) {
  const TensorImpl& impl = like.impl();
  return Tensor(
      make_intrusive<TensorImpl>(StorageImpl::allocate(geometry::bytes(impl.numel(), impl.itemsize()), impl.device()),
                                 impl.dtype(), impl.sizes(), std::move(strides), 0));
}

int64_t spatial(const Tensor& t) {
  int64_t n = 1;
  for (int64_t d = 2; d < t.dim(); ++d) n *= t.size(d);
  return n;
}

}  // namespace

bool is_physically_channels_last(const Tensor& t) {
  const Physical now(t);
  const auto &sizes = now->sizes(), &strides = now->physical_strides();
  if (sizes.size() < 3 || sizes.size() > 5) return false;
  const DimVector wanted = geometry::channels_inmost_strides(sizes);
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1 && strides[d] != wanted[d]) return false;
  return true;
}

bool is_visibly_channels_last(const Tensor& t) {
  if (t.impl().is_deferred() || t.impl().physically_contiguous()) return false;
  return t.dim() >= 4 && is_physically_channels_last(t);
}

Tensor to_channels_last(const Tensor& input) {
  const Tensor t = physical(input);
  if (is_physically_channels_last(t)) return t;
  NoGradGuard guard;
  const Tensor source = t.impl().physically_contiguous() ? t : t.detach().contiguous();
  Tensor out = raw(t, geometry::channels_inmost_strides(t.impl().sizes()));
  if (t.numel())
    transpose_kernel(t.device())(t.impl().itemsize(), t.size(0), t.size(1), spatial(t), out.impl().raw_data(),
                                 source.impl().raw_data());
  return out;
}

Tensor to_contiguous(const Tensor& input) {
  const Tensor t = physical(input);
  if (t.impl().physically_contiguous()) return t;
  NoGradGuard guard;
  if (!is_physically_channels_last(t)) return t.detach().contiguous();
  DimVector strides(t.impl().sizes().size(), 1);
  for (size_t d = strides.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * t.impl().sizes()[d + 1];
  Tensor out = raw(t, std::move(strides));
  if (t.numel())
    transpose_kernel(t.device())(t.impl().itemsize(), t.size(0), spatial(t), t.size(1), out.impl().raw_data(),
                                 t.impl().raw_data());
  return out;
}

Tensor empty_channels_last(const DimVector& sizes, ScalarType dtype, const Device& device, bool visible) {
  const int64_t numel = geometry::numel(sizes);  // throws where the products below would not fit
  int64_t inner = 1;
  for (size_t d = 2; d < sizes.size(); ++d) inner *= sizes[d];
  // Where both layouts are the same memory, the tensor is simply contiguous.
  if (!visible && (sizes[1] == 1 || inner == 1)) return empty(sizes, TensorOptions().dtype(dtype).device(device));
  auto impl = make_intrusive<TensorImpl>(StorageImpl::allocate(geometry::bytes(numel, element_size(dtype)), device),
                                         dtype, sizes, geometry::channels_inmost_strides(sizes), 0);
  if (!visible) impl->set_deferred();
  return Tensor(std::move(impl));
}

Tensor empty_in_layout_of(const Tensor& model, IntArrayRef sizes) {
  const bool last = static_cast<int64_t>(sizes.size()) == model.dim() && is_visibly_channels_last(model);
  return empty(sizes, model.options(), last ? geometry::channels_last_format(sizes.size()) : MemoryFormat::Contiguous);
}

Tensor in_strides(const Tensor& t, const DimVector& strides) {
  if (t.strides() == IntArrayRef(strides)) return t;
  Tensor out = empty_strided(t.sizes(), strides, t.options());
  {
    NoGradGuard no_history;
    out.copy_(t);
  }
  if (needs_grad(t)) record("CloneBackward0", out, {&t}, [](Backward& b) -> variable_list { return {b.grad()}; });
  return out;
}

DimVector strides_of_clone(const Tensor& t) {
  const DimVector &sizes = t.impl().sizes(), strides(t.strides());
  return geometry::is_dense(sizes, strides) ? strides : geometry::dense_strides_like(sizes, strides);
}

Tensor in_layout_of(const Tensor& model, const Tensor& result) {
  if (result.dim() != model.dim() || !is_visibly_channels_last(model)) return result;
  return in_strides(result, geometry::channels_last_strides(result.impl().sizes()));
}

Tensor empty_in_order_of(const Tensor& model, ScalarType dtype) {
  const TensorOptions options = model.options().dtype(dtype);
  if (model.impl().is_deferred() || model.is_contiguous() || !model.is_non_overlapping_and_dense())
    return empty(model.sizes(), options);
  return empty_strided(model.sizes(), model.strides(), options);
}

Tensor in_order_of(const Tensor& like, const Tensor& t) {
  const Tensor values = t.detach();
  if (like.is_contiguous()) return values.contiguous();
  return values.strides() == like.strides() ? values
                                            : empty_strided(like.sizes(), like.strides(), t.options()).copy_(values);
}

Tensor empty_same_layout(const Tensor& t) {
  const Physical now(t);
  Tensor out = raw(t, now->physical_strides());
  if (now->is_deferred()) out.impl().set_deferred();
  return out;
}

Tensor turned(Tensor fresh) {
  const int64_t rows = fresh.size(0), cols = fresh.size(1);
  fresh.impl().set_geometry(DimVector(IntArrayRef({cols, rows})), DimVector(IntArrayRef({1, cols})), 0);
  return fresh;
}

}  // namespace hb::ops
