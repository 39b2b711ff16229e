#include <halfbridge/tensor.h>

#include <halfbridge/autograd.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/amp.h>

#include "core/geometry.h"

namespace hb {

void Tensor::fail_undefined() {
  HB_CHECK(false, "[Tensor] Expected a proper Tensor but got None (or an undefined Tensor in C++)");
  __builtin_unreachable();
}

IntArrayRef Tensor::undefined_sizes() {
  static constexpr int64_t none = 0;
  return {&none, 1};
}

void Tensor::check_dtype(ScalarType wanted, const char* what) const {
  HB_CHECK(scalar_type() == wanted, "[", what, "] expected scalar type ", wanted, " but found ", scalar_type());
}

int64_t Tensor::size(int64_t d) const { return sizes()[geometry::wrap_dim("size", d, dim(), false)]; }
int64_t Tensor::stride(int64_t d) const { return impl().strides()[geometry::wrap_dim("stride", d, dim(), false)]; }

Storage Tensor::storage() const {
  const auto& storage = impl().storage();
  storage->show_address();
  return Storage(storage);
}

bool Tensor::is_contiguous(MemoryFormat format) const {
  if (!defined()) return true;
  TensorImpl& i = impl();
  if (i.is_sparse()) return false;
  if (format == MemoryFormat::Contiguous) return i.is_contiguous();
  if (format == MemoryFormat::Preserve) return true;
  if (i.dim() != (format == MemoryFormat::ChannelsLast ? 4 : 5)) return false;
  return geometry::is_channels_last(i.sizes(), i.strides());
}

MemoryFormat Tensor::suggest_memory_format() const {
  TensorImpl& i = impl();
  if (!i.is_contiguous() && geometry::is_channels_last(i.sizes(), i.strides()))
    return geometry::channels_last_format(i.dim());
  return MemoryFormat::Contiguous;
}

bool Tensor::is_non_overlapping_and_dense() const { return geometry::is_dense(impl().sizes(), impl().strides()); }

namespace {
thread_local uint64_t reads = 0;
}
uint64_t host_reads() { return reads; }

Scalar Tensor::item() const {
  ++reads;
  HB_CHECK(numel() == 1, "[item] a Tensor with ", numel(), " elements cannot be converted to Scalar");
  const Tensor here = is_cpu() ? *this : cpu();
  const void* p = here.impl().raw_data();
  switch (scalar_type()) {
#define HB_ITEM(T, Name) \
  case ScalarType::Name: \
    return Scalar(*static_cast<const T*>(p));
    HB_FORALL_DTYPES(HB_ITEM)
#undef HB_ITEM
    default:
      HB_NOT_SUPPORTED("[item] dtype ", scalar_type(), " is not supported");
  }
}

// --- new tensors

Tensor Tensor::new_empty(IntArrayRef size, const TensorOptions& o) const { return empty(size, options().merge_in(o)); }
Tensor Tensor::new_empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& o) const {
  return empty_strided(size, stride, options().merge_in(o));
}
Tensor Tensor::new_zeros(IntArrayRef size, const TensorOptions& o) const { return zeros(size, options().merge_in(o)); }
Tensor Tensor::new_ones(IntArrayRef size, const TensorOptions& o) const { return ones(size, options().merge_in(o)); }
Tensor Tensor::new_full(IntArrayRef size, const Scalar& value, const TensorOptions& o) const {
  return full(size, value, options().merge_in(o));
}
Tensor Tensor::new_tensor(const Tensor& data) const { return data.to(options(), false, true).detach(); }

const Tensor& Tensor::resize_(IntArrayRef size, std::optional<MemoryFormat> format) const {
  TensorImpl& i = impl();
  HB_CHECK(!requires_grad(), "[resize_] cannot resize variables that require grad");
  DimVector sizes(size);
  for (int64_t s : sizes) HB_CHECK(s >= 0, "[resize_] expected sizes that are not negative, got ", size);
  if (i.sizes() == sizes && !format) return *this;
  DimVector strides = format && *format != MemoryFormat::Contiguous && *format != MemoryFormat::Preserve
                          ? geometry::channels_last_strides(sizes)
                          : geometry::contiguous_strides(sizes);
  const int64_t offset = i.offset();
  const size_t bytes =
      geometry::bytes(geometry::extent(DimVector(1, geometry::numel(sizes)), DimVector(1, 1), offset), i.itemsize());
  if (bytes > i.storage()->nbytes()) {
    HB_CHECK(!i.storage()->is_borrowed(), "[resize_] memory of somebody else cannot grow");
    auto grown = StorageImpl::allocate(bytes, i.device());
    std::memcpy(grown->data(), i.storage()->data(), i.storage()->nbytes());
    i.set_storage(std::move(grown), i.dtype());
  }
  i.set_geometry(std::move(sizes), std::move(strides), offset);
  i.bump_version();
  return *this;
}

Tensor& Tensor::set_(const Tensor& source) const {
  HB_CHECK(scalar_type() == source.scalar_type(), "[set_] expected dtype ", scalar_type(), ", got ",
           source.scalar_type());
  source.impl().settle();
  impl().share_data_of(source.impl());
  impl().bump_version();
  return const_cast<Tensor&>(*this);
}

Tensor& Tensor::set_(const Storage& source, int64_t offset, IntArrayRef size, IntArrayRef stride) const {
  HB_CHECK(source, "[set_] expected a storage");
  HB_CHECK(offset >= 0, "[set_] expected an offset that is not negative, got ", offset);
  HB_CHECK(stride.empty() || stride.size() == size.size(), "[set_] expected a stride for each of ", size.size(),
           " sizes, got ", stride.size());
  for (const int64_t n : size) HB_CHECK(n >= 0, "[set_] expected sizes that are not negative, got ", n);
  for (const int64_t s : stride) HB_CHECK(s >= 0, "[set_] expected strides that are not negative, got ", s);
  DimVector sizes(size);
  DimVector strides = stride.empty() ? geometry::contiguous_strides(sizes) : DimVector(stride);
  TensorImpl& i = impl();
  const int64_t extent = geometry::extent(sizes, strides);
  const int64_t places = static_cast<int64_t>(source.nbytes() / i.itemsize());
  HB_CHECK(extent == 0 || extent <= places - offset, "[set_] expected a storage with place for ", extent,
           " elements from offset ", offset, ", got one for ", places);
  source.unsafeGetStorageImpl()->show_address();  // the program holds it, too
  i.set_storage(source.getIntrusivePtr(), i.dtype());
  i.set_geometry(std::move(sizes), std::move(strides), offset);
  i.bump_version();
  return const_cast<Tensor&>(*this);
}

Tensor& Tensor::set_(const Storage& source) const {
  return set_(source, 0, {static_cast<int64_t>(source.nbytes()) / element_size()});
}

bool Tensor::is_nonzero() const {
  HB_CHECK(numel() == 1, "[is_nonzero] Boolean value of Tensor with ",
           numel() == 0 ? "no values" : "more than one value", " is ambiguous");
  const Scalar value = item();
  return value.isComplex() ? value.toComplexDouble() != Complex<double>(0) : value.toBool();
}

Tensor operator-(const Scalar& a, const Tensor& b) {
  const bool cut = a.isFloatingPoint() && is_integral_type(b.scalar_type(), false);
  return hb::rsub(b, cut ? Scalar(a.toLong()) : a);
}

Tensor Tensor::pin_memory(std::optional<Device> /*device*/) const {
  HB_NOT_SUPPORTED("[pin_memory] Cannot access accelerator device when none is available: pinned memory needs CUDA");
}

Tensor Tensor::where(const Tensor& condition, const Scalar& other) const { return hb::where(condition, *this, other); }
Tensor Tensor::where(const Tensor& condition, const Tensor& other) const { return hb::where(condition, *this, other); }
Tensor Tensor::numpy_T() const {
  DimVector dims(dim());
  for (int64_t d = 0; d < dim(); ++d) dims[d] = dim() - 1 - d;
  return permute(dims);
}
Tensor Tensor::sum_to_size(IntArrayRef size) const {
  // Sums of small integers are int64, as those of sum().
  const bool sums = is_integral_type(scalar_type(), true) && sizes() != size;
  return sum_to(sums ? to(kLong) : *this, size);
}

Tensor Tensor::index_put(const std::vector<std::optional<Tensor>>& indices, const Tensor& value,
                         bool accumulate) const {
  return clone().index_put_(indices, value, accumulate);
}

}  // namespace hb
