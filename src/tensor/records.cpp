// Methods of a tensor's record that programs call.
#include <halfbridge/dispatch_key_set.h>
#include <halfbridge/tensor.h>

#include "core/geometry.h"

namespace hb {

namespace {
/// A handle for the time of a call.
Tensor handle(TensorImpl& impl) { return Tensor(intrusive_ptr<TensorImpl>::reclaim_copy(&impl)); }
size_t place_of(int64_t dim, size_t dims) {
  const auto n = static_cast<int64_t>(dims);
  HB_CHECK_INDEX(dim >= -n && dim < n, "Dimension out of range (expected to be in range of [", -n, ", ", n - 1,
                 "], but got ", dim, ")");
  return static_cast<size_t>(dim < 0 ? dim + n : dim);
}
}  // namespace

void TensorImpl::set_sizes_contiguous(IntArrayRef sizes) {
  DimVector wanted(sizes.begin(), sizes.end());
  DimVector strides = geometry::contiguous_strides(wanted);
  const int64_t at = offset();
  set_geometry(std::move(wanted), std::move(strides), at);
}

void TensorImpl::set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides, std::optional<int64_t> offset) {
  HB_CHECK(sizes.size() == strides.size(), "dimensionality of sizes (", sizes.size(),
           ") must match dimensionality of strides (", strides.size(), ")");
  const int64_t at = offset.value_or(this->offset());
  DimVector wanted(strides.begin(), strides.end());
  // As in LibTorch a negative stride stands for that of a contiguous tensor.
  for (size_t d = wanted.size(); d-- > 0;)
    if (wanted[d] < 0) wanted[d] = d + 1 == wanted.size() ? 1 : std::max<int64_t>(sizes[d + 1], 1) * wanted[d + 1];
  set_geometry(DimVector(sizes.begin(), sizes.end()), std::move(wanted), at);
}

void TensorImpl::set_size(int64_t dim, int64_t size) {
  const int64_t at = offset();
  DimVector wanted = sizes();
  wanted[place_of(dim, wanted.size())] = size;
  set_geometry(std::move(wanted), DimVector(strides()), at);
}
void TensorImpl::set_stride(int64_t dim, int64_t stride) {
  const int64_t at = offset();
  DimVector wanted = strides();
  wanted[place_of(dim, wanted.size())] = stride;
  set_geometry(DimVector(sizes()), std::move(wanted), at);
}
void TensorImpl::set_storage_offset(int64_t offset) {
  DimVector kept = strides();
  set_geometry(DimVector(sizes()), std::move(kept), offset);
}
void TensorImpl::set_storage_and_dtype(const Storage& storage, ScalarType dtype) {
  HB_CHECK(storage, "[set_storage] expected a storage");
  settle();
  set_storage(storage.getIntrusivePtr(), dtype);
}

int64_t TensorImpl::size(int64_t dim) const { return sizes_[place_of(dim, sizes_.size())]; }
int64_t TensorImpl::stride(int64_t dim) { return strides()[place_of(dim, sizes_.size())]; }
bool TensorImpl::is_non_overlapping_and_dense() const {
  return handle(const_cast<TensorImpl&>(*this)).is_non_overlapping_and_dense();
}
void TensorImpl::set_requires_grad(bool requires_grad) { handle(*this).set_requires_grad(requires_grad); }
bool TensorImpl::requires_grad() const { return handle(const_cast<TensorImpl&>(*this)).requires_grad(); }
const Tensor& TensorImpl::grad() const { return handle(const_cast<TensorImpl&>(*this)).grad(); }
Tensor& TensorImpl::mutable_grad() { return handle(*this).mutable_grad(); }
DispatchKeySet TensorImpl::key_set() const { return handle(const_cast<TensorImpl&>(*this)).key_set(); }

}  // namespace hb
