#include "core/copy_values.h"

#include "backend/elementwise.h"
#include "core/device_backend.h"
#include "core/geometry.h"
#include "core/physical.h"

namespace hb {
namespace {

Tensor dense_like(const TensorImpl& model, DimVector strides, const Device& device) {
  auto storage = StorageImpl::allocate(geometry::bytes(model.numel(), model.itemsize()), device);
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), model.dtype(), model.sizes(), std::move(strides), 0));
}

bool is_dense(const TensorImpl& t) {
  return t.physically_contiguous() || geometry::is_dense(t.sizes(), t.physical_strides());
}

// Without gaps, in the same order.
bool same_bytes(const TensorImpl& a, const TensorImpl& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  if (a.physically_contiguous() && b.physically_contiguous()) return true;
  return a.physical_strides() == b.physical_strides() && is_dense(a);
}

void copy_dense(const TensorImpl& out, const TensorImpl& src, bool non_blocking) {
  copy_memory(out.raw_data(), out.device(), src.raw_data(), src.device(), src.numel() * src.itemsize(), non_blocking);
}

// A strided source is packed where it lies, bytes travel, and what differs in dtype, strides or shape is spread where
// they arrive.
void copy_across(const Tensor& out, const Tensor& src, bool non_blocking) {
  if (out.numel() == 0 || src.numel() == 0) return;
  const Physical to(out), from(src);
  if (!is_dense(*from)) {
    Tensor packed = dense_like(*from, geometry::contiguous_strides(from->sizes()), from->device());
    copy_kernel(from->device())(Loop({&packed}, {&src}));
    return copy_across(out, packed, non_blocking);
  }
  if (same_bytes(*to, *from)) return copy_dense(*to, *from, non_blocking);
  const Tensor arrived = dense_like(*from, from->physical_strides(), to->device());
  copy_dense(arrived.impl(), *from, non_blocking);
  copy_kernel(to->device())(Loop({&out}, {&arrived}));
}

}  // namespace

void copy_values(const Tensor& out, const Tensor& src, bool non_blocking) {
  const Device& device = out.impl().device();
  if (HB_UNLIKELY(device != src.impl().device())) return copy_across(out, src, non_blocking);
  copy_kernel(device)(Loop({&out}, {&src}));
}

}  // namespace hb
