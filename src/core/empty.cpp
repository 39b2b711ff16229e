// Tensors whose memory is not written: new ones, and those over memory of the program's.
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops/factories.h>

#include "core/autograd_seam.h"
#include "core/devices.h"
#include "core/empty_contiguous.h"
#include "core/fill_new_memory.h"
#include "core/function_watch.h"
#include "core/geometry.h"
#include "core/physical.h"
#include "core/sparse_parts.h"

namespace hb {

namespace {

Tensor finish(Tensor t, const TensorOptions& options) {
  if (HB_UNLIKELY(options.requires_grad())) detail::autograd_seam.set_requires_grad(t);
  if (HB_UNLIKELY(InferenceMode::is_enabled())) t.impl().set_inference(true);
  return t;
}

Tensor finish_new(Tensor t, const TensorOptions& options) {
  detail::fill_if_asked(t);
  return finish(std::move(t), options);
}

DimVector checked_sizes(const char* name, IntArrayRef size) {
  for (int64_t s : size)
    HB_CHECK(s >= 0, "[", name, "] Trying to create tensor with negative dimension ", s, ": ", size);
  return DimVector(size);
}

void check_options(const char* name, const TensorOptions& o) {
  HB_CHECK(o.layout() == kStrided, "[", name, "] is not implemented for layout ", o.layout());
  HB_CHECK(element_size(o.dtype()) > 0, "[", name, "] dtype ", o.dtype(), " is not supported");
  HB_CHECK(!o.pinned_memory(), "[", name, "] pinned memory needs CUDA, which is not available");
}

Tensor make(DimVector sizes, DimVector strides, const TensorOptions& o) {
  auto storage =
      StorageImpl::allocate(geometry::bytes(geometry::numel(sizes), element_size(o.dtype())), detail::device_for(o));
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), o.dtype(), std::move(sizes), std::move(strides), 0));
}

DimVector strides_of(MemoryFormat format, const DimVector& sizes) {
  return format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d
             ? geometry::channels_last_strides(sizes)
             : geometry::contiguous_strides(sizes);
}

}  // namespace

Tensor empty(IntArrayRef size, const TensorOptions& options, std::optional<MemoryFormat> format) {
  HB_OBSERVED(empty, size, options, format);
  if (HB_UNLIKELY(sparse::is_made_of_parts(options.layout())))
    return sparse::empty(size, static_cast<int64_t>(size.size()), options);
  check_options("empty", options);
  DimVector sizes = checked_sizes("empty", size);
  DimVector strides =
      strides_of(format.value_or(options.memory_format_opt().value_or(MemoryFormat::Contiguous)), sizes);
  return finish_new(make(std::move(sizes), std::move(strides), options), options);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  HB_OBSERVED(empty_strided, size, stride, options);
  check_options("empty_strided", options);
  HB_CHECK(size.size() == stride.size(), "[empty_strided] dimensionality of sizes (", size.size(),
           ") must match dimensionality of strides (", stride.size(), ")");
  DimVector sizes = checked_sizes("empty_strided", size), strides(stride);
  for (int64_t s : strides) HB_CHECK(s >= 0, "[empty_strided] expected strides that are not negative, got ", stride);
  geometry::numel(sizes);
  auto storage = StorageImpl::allocate(geometry::bytes(geometry::extent(sizes, strides), element_size(options.dtype())),
                                       detail::device_for(options));
  return finish_new(
      Tensor(make_intrusive<TensorImpl>(std::move(storage), options.dtype(), std::move(sizes), std::move(strides), 0)),
      options);
}

Tensor empty_contiguous(const DimVector& sizes, ScalarType dtype, const Device& device) {
  auto storage = StorageImpl::allocate(geometry::bytes(geometry::numel(sizes), element_size(dtype)), device);
  return Tensor(
      make_intrusive<TensorImpl>(std::move(storage), dtype, sizes, geometry::contiguous_strides(sizes), int64_t{0}));
}

Tensor empty_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> format) {
  HB_OBSERVED(empty_like, self, options, format);
  const TensorOptions o = self.options().merge_in(options);
  if (HB_UNLIKELY(sparse::is_made_of_parts(o.layout()))) return sparse::empty_like(self, o);
  check_options("empty_like", o);
  const MemoryFormat wanted = format.value_or(options.memory_format_opt().value_or(MemoryFormat::Preserve));
  const Physical now(self);
  const TensorImpl& i = *now;
  if (wanted != MemoryFormat::Preserve) return finish_new(make(i.sizes(), strides_of(wanted, i.sizes()), o), o);
  DimVector strides = i.physically_contiguous() ? geometry::contiguous_strides(i.sizes())
                      : geometry::is_dense(i.sizes(), i.physical_strides())
                          ? i.physical_strides()
                          : geometry::dense_strides_like(i.sizes(), i.physical_strides());
  Tensor t = make(i.sizes(), std::move(strides), o);
  if (i.is_deferred()) t.impl().set_deferred();
  return finish_new(std::move(t), o);
}

// --- foreign memory

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const std::function<void(void*)>& deleter,
                 const TensorOptions& options) {
  // The memory is the caller's: whether it is pinned is not for the options to say.
  check_options("from_blob", options.pinned_memory(false));
  DimVector s = checked_sizes("from_blob", sizes), st(strides);
  HB_CHECK(s.size() == st.size(), "[from_blob] expected as many strides as sizes, got ", sizes, " and ", strides);
  geometry::numel(s);
  const size_t bytes = geometry::bytes(geometry::extent(s, st), element_size(options.dtype()));
  auto storage = StorageImpl::borrow(data, bytes, options.device(), deleter);
  return finish(Tensor(make_intrusive<TensorImpl>(std::move(storage), options.dtype(), std::move(s), std::move(st), 0)),
                options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  return from_blob(data, sizes, strides, nullptr, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                 const TensorOptions& options) {
  return from_blob(data, sizes, geometry::contiguous_strides(DimVector(sizes)), deleter, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options) {
  return from_blob(data, sizes, nullptr, options);
}

}  // namespace hb
