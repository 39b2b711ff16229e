// Copies, conversions and fills.
#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "backend/elementwise.h"
#include "core/copy_values.h"
#include "core/device_backend.h"
#include "core/function_watch.h"
#include "core/geometry.h"
#include "core/new_memory.h"
#include "core/value_range.h"
#include "core/warnings.h"
#include "ops/common/inplace.h"
#include "ops/sparse/sparse.h"

namespace hb {

Tensor clone(const Tensor& self, std::optional<MemoryFormat> format) {
  HB_OBSERVED(clone, self, format);
  if (HB_UNLIKELY(self.layout() != kStrided)) return sparse::clone(self, format);
  Tensor out = empty_like(self, {}, format);
  copy_kernel(self.device())(Loop({&out}, {&self}));
  if (needs_grad(self)) record("CloneBackward0", out, {&self}, [](Backward& b) -> variable_list { return {b.grad()}; });
  return out;
}

Tensor method::contiguous(const Tensor& self, MemoryFormat format) {
  HB_CHECK(format != MemoryFormat::Preserve || self.is_contiguous(),
           "[contiguous] preserve memory format is unsupported by the contiguous operator");
  return format == MemoryFormat::Preserve || self.is_contiguous(format) ? self : clone(self, format);
}

namespace {

void warn_of_lost_part(ScalarType target) {
  if (target != kBool) HB_WARN_ONCE("Casting complex values to real discards the imaginary part");
}

Tensor converted(const Tensor& self, const Device& device, ScalarType dtype, bool non_blocking,
                 std::optional<MemoryFormat> format) {
  if (HB_UNLIKELY(self.layout() != kStrided)) return sparse::converted(self, device, dtype);
  if (self.is_complex() && !isComplexType(dtype)) warn_of_lost_part(dtype);
  Tensor out = empty_like(self, TensorOptions().dtype(dtype).device(device), format);
  {
    const pending::NewMemory nothing_else_changes;
    copy_values(out, self, non_blocking);
  }
  if (needs_grad(self) && is_differentiable_type(dtype))
    record("ToCopyBackward0", out, {&self},
           [from = self.device()](Backward& b) -> variable_list { return {b.grad().to(from)}; });
  return out;
}

Tensor to(const Tensor& self, const Device& target, ScalarType dtype, bool non_blocking, bool copy,
          std::optional<MemoryFormat> format) {
  HB_OBSERVED(to, self, target, dtype, non_blocking, copy, format);
  HB_CHECK(element_size(dtype) > 0, "[to] dtype ", dtype, " is not supported");
  const Device device = indexed_device("to", target);
  const bool as_is = device == self.device() && dtype == self.scalar_type() &&
                     (!format || *format == MemoryFormat::Preserve || self.is_contiguous(*format));
  return as_is && !copy ? self : converted(self, device, dtype, non_blocking, format);
}

}  // namespace

Tensor Tensor::to(ScalarType dtype, bool non_blocking, bool copy, std::optional<MemoryFormat> format) const {
  return to(device(), dtype, non_blocking, copy, format);
}
Tensor Tensor::to(Device target, ScalarType dtype, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  return hb::to(*this, target, dtype, non_blocking, copy, format);
}
Tensor Tensor::to(const TensorOptions& o, bool non_blocking, bool copy, std::optional<MemoryFormat> format) const {
  HB_CHECK(!o.has_requires_grad(),
           "to(options) expects unset requires_grad flag, but got options.requires_grad set as ",
           o.requires_grad() ? "true" : "false");
  HB_CHECK(!o.has_layout() || o.layout() == layout(),
           "to(options) doesn't support converting to a different layout, but got self.layout being ", layout(),
           " and options.layout set as ", o.layout(), "; call to_dense() or to_sparse()");
  return to(o.device_opt().value_or(device()), o.dtype_opt().value_or(scalar_type()), non_blocking, copy,
            format ? format : o.memory_format_opt());
}
Tensor Tensor::to(const Tensor& other, bool non_blocking, bool copy, std::optional<MemoryFormat> format) const {
  return to(other.device(), other.scalar_type(), non_blocking, copy, format);
}

namespace {
bool is_same_memory(const Tensor& a, const Tensor& b) {
  return a.layout() == kStrided && b.layout() == kStrided && a.is_alias_of(b) &&
         a.storage_offset() == b.storage_offset() && a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}
}  // namespace

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  HB_OBSERVED(copy_, self, src, non_blocking);
  HB_CHECK(src.defined(), "[copy_] expected a defined source");
  if (self.is_same(src) || (is_same_memory(self, src) && !needs_grad(self, src))) {
    check_changeable("copy_", self);
    self.impl().bump_version();
    return self;
  }
  if (HB_UNLIKELY(sparse::either(self, src))) {
    HB_CHECK(!needs_grad(self, src), "[copy_] the gradient of a copy of sparse tensors is not supported; use clone()");
    check_inplace("copy_", self);
    sparse::copy_into(self, src);
    self.impl().bump_version();
    return self;
  }
  if (src.is_complex() && !self.is_complex()) warn_of_lost_part(self.scalar_type());
  const auto fits = [&](const Tensor& s) {
    const DimVector shape = broadcast_sizes("copy_", {&self, &s});
    HB_CHECK(shape == self.impl().sizes(), "[copy_] The expanded size of the tensor (", self.sizes(),
             ") must match the existing size (", s.sizes(), ")");
  };
  fits(src);
  return inplace(
      "copy_", self,
      [&](const Tensor& old) {
        Tensor out = empty_like(old);
        copy_values(out, src, non_blocking);
        // What was there gets zeros, as in LibTorch.
        if (needs_grad(src, old))
          record("torch::autograd::CopyBackwards", out, {&old, &src},
                 [from = src.device()](Backward& b) -> variable_list {
                   return {b.needs(0) ? zeros_like(b.grad()) : Tensor(), b.needs(1) ? b.grad().to(from) : Tensor()};
                 });
        return out;
      },
      [&](Tensor& t) {
        if (t.is_alias_of(src) && t.numel() > 0) {  // the two may overlap
          const Tensor apart = src.clone();
          copy_kernel(t.device())(Loop({&t}, {&apart}));
          return;
        }
        copy_values(t, src, non_blocking);
      },
      {&src});
}

namespace {
// Where a dimension repeats one element, that element alone: to write it once is to write it everywhere.
Tensor without_repeats(const Tensor& self) {
  Tensor t = self;
  for (int64_t d = 0; d < t.dim(); ++d)
    if (t.size(d) > 1 && t.stride(d) == 0) t = t.narrow(d, 0, 1);
  return t;
}
}  // namespace

Tensor& fill_(Tensor& self, const Scalar& value) {
  HB_OBSERVED(fill_, self, value);
  check_filling_fits("fill_", self.scalar_type(), self.numel(), value);
  if (!self.is_contiguous() && self.layout() == kStrided && !needs_grad(self)) {
    Tensor once = without_repeats(self);
    if (!once.is_same(self)) return fill_(once, value), self;
  }
  return inplace(
      "fill_", self, [&](const Tensor& old) { return full_like(old, value); },
      [&](Tensor& t) { fill_kernel(t.device())(Loop({&t}, {}), value); });
}

Tensor& fill_(Tensor& self, const Tensor& value) {
  HB_OBSERVED(fill_, self, value);
  HB_CHECK(value.dim() == 0, "[fill_] only supports 0-dimension value tensor but got tensor with ", value.dim(),
           " dimensions.");
  return copy_(self, value);
}

Tensor& zero_(Tensor& self) {
  HB_OBSERVED(zero_, self);
  if (HB_LIKELY(self.layout() == kStrided)) return fill_(self, Scalar(0));
  return inplace(
      "zero_", self, [](const Tensor& old) { return sparse::empty_like(old, old.options()); },
      [](Tensor& t) { sparse::clear(t); });
}

}  // namespace hb
