#include <halfbridge/tensor.h>

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
  HB_CHECK(!is_meta() || numel() == 0, "[", what,
           "] The tensor has a non-zero number of elements, but its data is not allocated yet.");
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
  if (!defined()) return MemoryFormat::Contiguous;
  TensorImpl& i = impl();
  if (!i.is_contiguous() && geometry::is_channels_last(i.sizes(), i.strides()))
    return geometry::channels_last_format(i.dim());
  return MemoryFormat::Contiguous;
}

bool Tensor::is_non_overlapping_and_dense() const { return geometry::is_dense(impl().sizes(), impl().strides()); }

std::string Tensor::toString() const {
  if (!defined()) return "UndefinedType";
  return (is_sparse() ? "Sparse" : "") + DeviceTypeName(device().type()) + hb::toString(scalar_type()) + "Type";
}

}  // namespace hb
