#include <halfbridge/ops/factories.h>

#include <cmath>

#include <halfbridge/autograd.h>
#include <halfbridge/ops/combine.h>
#include "core/geometry.h"
#include "core/loop.h"
#include "core/physical.h"
#include "core/value_range.h"

#include "kernels/elementwise.h"
#include "kernels/factories.h"
#include "ops/sparse.h"

namespace hb {

namespace {

Tensor finish(Tensor t, const TensorOptions& options) {
  if (HB_UNLIKELY(options.requires_grad())) t.requires_grad_(true);
  if (HB_UNLIKELY(InferenceMode::is_enabled())) t.impl().set_inference(true);
  return t;
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
  auto storage = StorageImpl::allocate(geometry::bytes(geometry::numel(sizes), element_size(o.dtype())), o.device());
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), o.dtype(), std::move(sizes), std::move(strides), 0));
}

DimVector strides_of(MemoryFormat format, const DimVector& sizes) {
  return format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d
             ? geometry::channels_last_strides(sizes)
             : geometry::contiguous_strides(sizes);
}

}  // namespace

Tensor empty(IntArrayRef size, const TensorOptions& options, std::optional<MemoryFormat> format) {
  if (HB_UNLIKELY(options.is_sparse())) return sparse::empty(size, static_cast<int64_t>(size.size()), options);
  check_options("empty", options);
  DimVector sizes = checked_sizes("empty", size);
  DimVector strides =
      strides_of(format.value_or(options.memory_format_opt().value_or(MemoryFormat::Contiguous)), sizes);
  return finish(make(std::move(sizes), std::move(strides), options), options);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  check_options("empty_strided", options);
  HB_CHECK(size.size() == stride.size(), "[empty_strided] dimensionality of sizes (", size.size(),
           ") must match dimensionality of strides (", stride.size(), ")");
  DimVector sizes = checked_sizes("empty_strided", size), strides(stride);
  for (int64_t s : strides) HB_CHECK(s >= 0, "[empty_strided] expected strides that are not negative, got ", stride);
  geometry::numel(sizes);
  auto storage = StorageImpl::allocate(geometry::bytes(geometry::extent(sizes, strides), element_size(options.dtype())),
                                       options.device());
  return finish(
      Tensor(make_intrusive<TensorImpl>(std::move(storage), options.dtype(), std::move(sizes), std::move(strides), 0)),
      options);
}

namespace {
Tensor filled(IntArrayRef size, const Scalar& value, const TensorOptions& options) {
  if (HB_UNLIKELY(options.is_sparse())) {
    HB_CHECK(value.equal(0), "[full] full(...) is not implemented for sparse layout");
    return empty(size, options);
  }
  Tensor t = empty(size, TensorOptions(options).requires_grad(false));
  check_value_fits("full", t.scalar_type(), value);
  fill_kernel(t.device())(Loop({&t}, {}), value);
  return finish(std::move(t), options);
}
}  // namespace

Tensor zeros(IntArrayRef size, const TensorOptions& options) { return filled(size, 0, options); }
Tensor ones(IntArrayRef size, const TensorOptions& options) { return filled(size, 1, options); }
Tensor full(IntArrayRef size, const Scalar& value, const TensorOptions& options) {
  if (options.has_dtype()) return filled(size, value, options);
  const ScalarType natural = value.isBoolean()         ? kBool
                             : value.isIntegral(false) ? kLong
                             : value.isComplex()       ? to_complex_type(get_default_dtype())
                                                       : get_default_dtype();
  return filled(size, value, options.dtype(natural));
}
Tensor scalar_tensor(const Scalar& value, const TensorOptions& options) { return filled({}, value, options); }

Tensor empty_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> format) {
  const TensorOptions o = self.options().merge_in(options);
  if (HB_UNLIKELY(o.is_sparse())) return sparse::empty_like(self, o);
  check_options("empty_like", o);
  const MemoryFormat wanted = format.value_or(options.memory_format_opt().value_or(MemoryFormat::Preserve));
  const Physical now(self);
  const TensorImpl& i = *now;
  if (wanted != MemoryFormat::Preserve) return finish(make(i.sizes(), strides_of(wanted, i.sizes()), o), o);
  DimVector strides = i.physically_contiguous() ? geometry::contiguous_strides(i.sizes())
                      : geometry::is_dense(i.sizes(), i.physical_strides())
                          ? i.physical_strides()
                          : geometry::dense_strides_like(i.sizes(), i.physical_strides());
  Tensor t = make(i.sizes(), std::move(strides), o);
  if (i.is_deferred()) t.impl().set_deferred();
  return finish(std::move(t), o);
}

namespace {
Tensor filled_like(const Tensor& self, const Scalar& value, const TensorOptions& options,
                   std::optional<MemoryFormat> format = std::nullopt) {
  Tensor t = empty_like(self, TensorOptions(options).requires_grad(false), format);
  if (HB_UNLIKELY(t.is_sparse()) && value.equal(0)) return finish(std::move(t), options);
  fill_kernel(t.device())(Loop({&t}, {}), value);
  return finish(std::move(t), options);
}
}  // namespace

Tensor zeros_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> format) {
  return filled_like(self, 0, options, format);
}
Tensor ones_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> format) {
  return filled_like(self, 1, options, format);
}
Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  check_value_fits("full_like", options.has_dtype() ? options.dtype().toScalarType() : self.scalar_type(), value);
  return filled_like(self, value, options, format);
}

// --- sequences

namespace {
TensorOptions sequence_options(const TensorOptions& options, std::initializer_list<Scalar> bounds) {
  if (options.has_dtype()) return options;
  for (const Scalar& b : bounds)
    if (b.isFloatingPoint()) return options.dtype(get_default_dtype());
  return options.dtype(kLong);
}

int64_t checked_count(const char* name, double n) {
  HB_CHECK(n >= 0 && n < 0x1p63, "[", name, "] invalid size, possible overflow? ", n, " elements");
  return static_cast<int64_t>(n);
}

Tensor ramp(const char* name, const Scalar& start, const Scalar& step, int64_t n, const TensorOptions& options) {
  HB_CHECK(options.dtype() != kBool, "[", name, "] not implemented for 'Bool'");
  Tensor t = empty({n}, TensorOptions(options).requires_grad(false));
  arange_kernel(t.device())(t, start, step);
  return finish(std::move(t), options);
}
}  // namespace

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& given) {
  const TensorOptions options = sequence_options(given, {start, end, step});
  const double s = step.toDouble(), from = start.toDouble(), to = end.toDouble();
  HB_CHECK(s != 0, "[arange] step must be nonzero");
  HB_CHECK(std::isfinite(from) && std::isfinite(to), "[arange] unsupported range: ", from, " -> ", to);
  HB_CHECK((s > 0 && to >= from) || (s < 0 && to <= from),
           "[arange] upper bound and lower bound inconsistent with step sign: ", from, " -> ", to, ", step ", s);
  int64_t n, span;
  if (start.isIntegral(true) && end.isIntegral(true) && step.isIntegral(true)) {
    const int64_t k = step.toLong();
    HB_CHECK(!__builtin_sub_overflow(end.toLong(), start.toLong(), &span), "[arange] invalid size, possible overflow? ",
             from, " -> ", to);
    n = span / k + (span % k != 0);
  } else {
    n = checked_count("arange", std::ceil((to - from) / s));
  }
  return ramp("arange", start, step, n, options);
}
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return arange(start, end, 1, options);
}
Tensor arange(const Scalar& end, const TensorOptions& options) { return arange(0, end, 1, options); }
Tensor range(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) {
  const double s = step.toDouble();
  HB_CHECK(s != 0, "[range] step must be nonzero");
  HB_CHECK(s > 0 ? end.toDouble() >= start.toDouble() : end.toDouble() <= start.toDouble(),
           "[range] upper bound and lower bound inconsistent with step sign");
  const int64_t n = checked_count("range", std::trunc((end.toDouble() - start.toDouble()) / s) + 1);
  return ramp("range", start, step, n, options.has_dtype() ? options : options.dtype(get_default_dtype()));
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options) {
  HB_CHECK(steps >= 0, "[linspace] number of steps must be non-negative, got ", steps);
  Tensor t = empty({steps}, TensorOptions(options).requires_grad(false));
  linspace_kernel(t.device())(t, start.toDouble(), end.toDouble());
  return finish(std::move(t), options);
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, const TensorOptions& options) {
  const Tensor exponents = linspace(start, end, steps, TensorOptions().dtype(kDouble));
  return finish(pow(Scalar(base), exponents).to(options.dtype()), options);
}

Tensor eye(int64_t n, int64_t m, const TensorOptions& options) {
  HB_CHECK(n >= 0, "[eye] n must be greater or equal to 0, got ", n);
  HB_CHECK(m >= 0, "[eye] m must be greater or equal to 0, got ", m);
  Tensor t = zeros({n, m}, TensorOptions(options).requires_grad(false));
  t.diagonal().fill_(1);
  return finish(std::move(t), options);
}
Tensor eye(int64_t n, const TensorOptions& options) { return eye(n, n, options); }

// --- foreign memory

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const std::function<void(void*)>& deleter,
                 const TensorOptions& options) {
  check_options("from_blob", options);
  HB_CHECK(options.device().is_cpu(), "[from_blob] device ", options.device(), " is not available");
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
