// Functions that give a tensor another size or memory.
#include <cstring>

#include <halfbridge/autograd.h>
#include <halfbridge/ops.h>

#include "core/device_backend.h"
#include "core/fill_new_memory.h"
#include "core/geometry.h"
#include "ops/common/defined.h"
#include "ops/common/inference.h"

namespace hb {

namespace {
// The elements of t's memory from that one on are new.
void fill_new(const Tensor& t, int64_t from) {
  const auto places = static_cast<int64_t>(t.impl().storage()->nbytes() / t.impl().itemsize());
  if (HB_UNLIKELY(detail::fill_new_memory != nullptr))
    detail::fill_if_asked(t.data().as_strided({places - from}, {1}, from));
}

void free_storage(void* held) { (void)intrusive_ptr<StorageImpl>::reclaim(static_cast<StorageImpl*>(held)); }

// Others (views, a c10::Storage of the program) see the memory that grew, too. What is not ours cannot grow.
void grow_for_all(StorageImpl& storage, intrusive_ptr<StorageImpl> grown) {
  const size_t bytes = grown->nbytes();
  void* const data = grown->data();
  const bool borrowed = storage.is_borrowed();
  DataPtr before = storage.set_data_ptr(DataPtr(data, grown.release(), &free_storage, storage.device()));
  if (borrowed && before.get_deleter() != &free_storage) {
    storage.set_data_ptr(std::move(before));
    HB_CHECK(false, "[resize_] memory of somebody else cannot grow");
  }
  storage.set_nbytes(bytes);
}
}  // namespace

const Tensor& Tensor::resize_(IntArrayRef size, std::optional<MemoryFormat> format) const {
  TensorImpl& i = impl();
  HB_CHECK(!requires_grad(), "[resize_] cannot resize variables that require grad");
  check_inference("resize_", *this);
  DimVector sizes(size);
  for (int64_t s : sizes) HB_CHECK(s >= 0, "[resize_] expected sizes that are not negative, got ", size);
  if (i.sizes() == sizes && !format) return *this;
  DimVector strides = format && *format != MemoryFormat::Contiguous && *format != MemoryFormat::Preserve
                          ? geometry::channels_last_strides(sizes)
                          : geometry::contiguous_strides(sizes);
  const int64_t offset = i.offset();
  const size_t bytes =
      geometry::bytes(geometry::extent(DimVector(1, geometry::numel(sizes)), DimVector(1, 1), offset), i.itemsize());
  const size_t bytes_before = i.storage()->nbytes();
  if (bytes > bytes_before) {
    auto grown = StorageImpl::allocate(bytes, i.device());
    copy_memory(grown->data(), i.device(), i.storage()->data(), i.device(), bytes_before);
    if (i.storage()->is_borrowed() || i.storage().use_count() > 1)
      grow_for_all(*i.storage(), std::move(grown));
    else
      i.set_storage(std::move(grown), i.dtype());
  }
  i.set_geometry(std::move(sizes), std::move(strides), offset);
  i.bump_version();
  if (bytes > bytes_before) fill_new(*this, static_cast<int64_t>(bytes_before / i.itemsize()));
  return *this;
}

const Tensor& Tensor::resize_as_(const Tensor& other, std::optional<MemoryFormat> format) const {
  const DimVector& sizes = other.impl().sizes();
  return resize_({sizes.data(), sizes.size()}, format);
}

Tensor& Tensor::set_(const Tensor& source) const {
  ops::check_defined(*this, source);
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

Tensor& Tensor::set_(const Tensor& source, int64_t offset, IntArrayRef size, IntArrayRef stride) const {
  ops::check_defined(*this, source);
  HB_CHECK(scalar_type() == source.scalar_type(), "[set_] expected dtype ", scalar_type(), ", got ",
           source.scalar_type());
  HB_CHECK(source.is_contiguous(), "passed in tensor to be used as storage must be contiguous");
  return set_(source.storage(), source.storage_offset() + offset, size, stride);
}

Tensor& Tensor::set_() const {
  ops::check_defined(*this);
  return set_(empty({0}, options().requires_grad(false)));
}

}  // namespace hb
