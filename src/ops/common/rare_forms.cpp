// The functions that ops/rare_forms.h declares, from the same rows.
#include <algorithm>
#include <string>

#include <halfbridge/engine.h>

#include "autograd/named.h"
#include "core/function_watch.h"
#include "ops/common/inplace.h"
#include "ops/common/out_dtype.h"

namespace hb {
namespace {

/// `out` in the shape of what is about to be written to it.
Tensor& resized(const char* name, Tensor& out, IntArrayRef size) {
  HB_CHECK(out.defined(), "[", name, "_out] expected out to be a tensor, got an undefined one");
  HB_CHECK(!(GradMode::is_enabled() && out.requires_grad()), "[", name,
           "_out] functions with out=... arguments don't support automatic differentiation, but one of the arguments "
           "requires grad.");
  if (!out.sizes().equals(size)) size_out(name, out, size);
  return out;
}

Tensor copy_of_view(const char* node, const Tensor& view, const Tensor& self) {
  return named(node, view.clone(MemoryFormat::Contiguous), self);
}
std::vector<Tensor> copies_of_views(const char* node, std::vector<Tensor> views, const Tensor& self) {
  for (Tensor& view : views) view = copy_of_view(node, view, self);
  return views;
}
/// These do not cast.
Tensor& write_copy(const char* name, Tensor& out, const Tensor& view) {
  if (out.defined()) {
    require_out_dtype(name, view.scalar_type(), out.scalar_type());
    if (out.sizes() != view.sizes()) size_out(name, out, view.sizes());
  }
  return ops::write_out(name, out, view);
}
void write_copies(const char* name, TensorList out, const std::vector<Tensor>& views) {
  HB_CHECK(out.size() == views.size(), name, "_out() expected an out= argument of size ", views.size(), ", got size ",
           out.size());
  for (size_t i = 0; i < views.size(); ++i) {
    Tensor to = out[i];
    write_copy(name, to, views[i]);
  }
}

}  // namespace
}  // namespace hb

#define HB_DEFINE_RARE_FORMS
#include <halfbridge/ops/rare_forms.h>

namespace hb {

Tensor& empty_out(Tensor& out, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  HB_CHECK(!memory_format, "'memory_format' argument is incompatible with 'out' tensor argument");
  return resized("empty", out, size);
}

Tensor empty_permuted(IntArrayRef size, IntArrayRef physical_layout, const TensorOptions& options) {
  const auto dims = static_cast<int64_t>(size.size());
  HB_CHECK(size.size() == physical_layout.size(),
           "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = ", dims,
           " is not equal to len(physical_layout) = ", physical_layout.size());
  std::vector<bool> seen(size.size(), false);
  for (int64_t i = 0; i < dims; ++i) {
    const int64_t d = physical_layout[i];
    HB_CHECK(d >= 0 && d < dims, "Dimension out of range (expected to be between 0 and ", dims - 1, ", but got ", d,
             " at index ", i, ").  NB: negative dims not currently supported");
    HB_CHECK(!seen[d], "Duplicate dim not allowed");
    seen[d] = true;
  }
  std::vector<int64_t> strides(size.size());
  int64_t step = 1;
  for (int64_t i = dims; i-- > 0; step *= std::max<int64_t>(size[physical_layout[i]], 1))
    strides[physical_layout[i]] = step;
  return empty_strided(size, strides, options);
}
Tensor empty_permuted(IntArrayRef size, IntArrayRef physical_layout, std::optional<ScalarType> dtype,
                      std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return empty_permuted(size, physical_layout,
                        TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory));
}

// --- in-place functions that leave self as it is

Tensor copy(const Tensor& self, const Tensor& src, bool non_blocking) { return self.clone().copy_(src, non_blocking); }

namespace {
/// A tensor like self that set_ may change: without history, and without self's memory.
Tensor to_be_set(const Tensor& self) { return empty({0}, self.options()); }
}  // namespace
Tensor set(const Tensor& self, const Storage& source) { return to_be_set(self).set_(source); }
Tensor set(const Tensor& self, const Storage& source, int64_t storage_offset, IntArrayRef size, IntArrayRef stride) {
  return to_be_set(self).set_(source, storage_offset, size, stride);
}
Tensor set(const Tensor& self, const Tensor& source) { return to_be_set(self).set_(source); }
Tensor set(const Tensor& self) { return to_be_set(self).set_(); }

Tensor resize(const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  return self.detach().clone().resize_(size, memory_format);
}
const Tensor& resize_out(const Tensor& out, const Tensor& self, IntArrayRef size,
                         std::optional<MemoryFormat> memory_format) {
  return ops::write_out("resize", const_cast<Tensor&>(out), resize(self, size, memory_format));
}
const Tensor& resize_as_out(const Tensor& out, const Tensor& self, const Tensor& the_template,
                            std::optional<MemoryFormat> memory_format) {
  return ops::write_out("resize_as", const_cast<Tensor&>(out), resize(self, the_template.sizes(), memory_format));
}
Tensor lift(const Tensor& self) { return self; }
Tensor lift_fresh(const Tensor& self) { return self; }
Tensor& sparse_mask_out(Tensor& out, const Tensor& self, const Tensor& mask) {
  return ops::write_out("sparse_mask", out, self.sparse_mask(mask));
}

void _histogramdd_bin_edges_out(TensorList out, const Tensor& self, IntArrayRef bins,
                                std::optional<ArrayRef<double>> range, const std::optional<Tensor>& weight,
                                bool density) {
  write_copies("_histogramdd_bin_edges", out, _histogramdd_bin_edges(self, bins, range, weight, density));
}
Tensor& _to_dense_out(Tensor& out, const Tensor& self, std::optional<ScalarType> dtype,
                      std::optional<bool> masked_grad) {
  return write_copy("_to_dense", out, self.to_dense(dtype, masked_grad));
}
Tensor& _to_copy_out(Tensor& out, const Tensor& self, bool non_blocking, std::optional<MemoryFormat>) {
  return resized("_to_copy", out, self.sizes()).copy_(self, non_blocking);
}

std::tuple<Tensor&, Tensor&> linalg_ldl_factor_out(Tensor& LD, Tensor& pivots, const Tensor& self, bool hermitian) {
  ops::OutScope scope;
  const auto [ld, p] = linalg_ldl_factor(self, hermitian);
  return {ops::write_out("linalg_ldl_factor", LD, ld), ops::write_out("linalg_ldl_factor", pivots, p)};
}
namespace {
std::tuple<Tensor&, Tensor&, Tensor&> write_three(const char* name, Tensor& out0, Tensor& out1, Tensor& out2,
                                                  const TensorTuple3& made) {
  return {ops::write_out(name, out0, std::get<0>(made)), ops::write_out(name, out1, std::get<1>(made)),
          ops::write_out(name, out2, std::get<2>(made))};
}
}  // namespace
std::tuple<Tensor&, Tensor&, Tensor&> linalg_ldl_factor_ex_out(Tensor& LD, Tensor& pivots, Tensor& info,
                                                               const Tensor& self, bool hermitian, bool check_errors) {
  ops::OutScope scope;
  return write_three("linalg_ldl_factor_ex", LD, pivots, info, linalg_ldl_factor_ex(self, hermitian, check_errors));
}
std::tuple<Tensor&, Tensor&, Tensor&> native_batch_norm_out(Tensor& out, Tensor& save_mean, Tensor& save_invstd,
                                                            const Tensor& input, const std::optional<Tensor>& weight,
                                                            const std::optional<Tensor>& bias,
                                                            const std::optional<Tensor>& running_mean,
                                                            const std::optional<Tensor>& running_var, bool training,
                                                            double momentum, double eps) {
  ops::OutScope scope;
  return write_three("native_batch_norm", out, save_mean, save_invstd,
                     native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

// --- copies of views

Tensor lift_fresh_copy(const Tensor& self) { return copy_of_view("LiftFreshBackward0_copy", self, self); }
Tensor& lift_fresh_copy_out(Tensor& out, const Tensor& self) { return write_copy("lift_fresh", out, self); }
Tensor view_as_complex_copy(const Tensor& self) {
  return copy_of_view("ViewAsComplexBackward0_copy", view_as_complex(self), self);
}
Tensor& view_as_complex_copy_out(Tensor& out, const Tensor& self) {
  return write_copy("view_as_complex", out, view_as_complex(self));
}

}  // namespace hb
