#include <halfbridge/tensor.h>

#include <algorithm>

#include "core/geometry.h"
#include "core/missing.h"

namespace hb {

constexpr const char* kNoTensor = "Expected a proper Tensor but got None (or an undefined Tensor in C++)";

void Tensor::fail_undefined() { HB_CHECK(false, "[Tensor] ", kNoTensor); }
// A function of the library may be what asks.
void Tensor::fail_undefined(const char* why) { HB_CHECK(false, "[Tensor] ", kNoTensor, ": ", why); }

constinit const Tensor detail::absent;
void detail::fail_missing(const char* function, std::string_view parameters, size_t argument) {
  for (size_t i = 0; i < argument; ++i) parameters.remove_prefix(std::min(parameters.find(',') + 2, parameters.size()));
  HB_CHECK(false, "[", function, "] ", kNoTensor, " for argument #", argument, " '",
           parameters.substr(0, parameters.find(',')), "'");
}

IntArrayRef Tensor::undefined_sizes() {
  static constexpr int64_t none = 0;
  return {&none, 1};
}

void Tensor::check_dtype(ScalarType wanted, const char* what) const {
  const ScalarType found = defined() ? scalar_type() : ScalarType::Undefined;
  HB_CHECK(found == wanted, "[", what, "] expected scalar type ", wanted, " but found ", found);
  HB_CHECK(!is_meta() || numel() == 0, "[", what,
           "] The tensor has a non-zero number of elements, but its data is not allocated yet.");
}

int64_t Tensor::size(int64_t d) const { return sizes()[geometry::wrap_dim("size", d, dim(), false)]; }
int64_t Tensor::stride(int64_t d) const { return strides()[geometry::wrap_dim("stride", d, dim(), false)]; }

size_t Tensor::nbytes() const {
  HB_CHECK(layout() == kStrided,
           "nbytes is not defined for sparse tensors. Add those of the indices and values, or multiply numel() by "
           "element_size() for the size of the dense tensor");
  return impl().numel() * impl().itemsize();
}

bool Tensor::is_alias_of(const Tensor& other) const {
  for (const Tensor* t : {this, &other})
    if (!t->defined()) (void)t->storage();  // throws; elsewhere it would show an address that nobody asked for
  return impl().storage() == other.impl().storage();
}

const Storage Tensor::storage() const {
  if (HB_UNLIKELY(!defined())) HB_NOT_SUPPORTED("Cannot access storage of UndefinedTensorImpl");
  const auto& storage = impl().storage();
  storage->show_address();
  return Storage(storage);
}

bool Tensor::is_contiguous(MemoryFormat format) const {
  if (!defined()) return format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve;
  TensorImpl& i = impl();
  if (!i.is_strided()) return false;
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

bool Tensor::is_non_overlapping_and_dense() const {
  return !defined() || geometry::is_dense(impl().sizes(), impl().strides());
}

std::string Tensor::toString() const {
  if (!defined()) return "UndefinedType";
  // As LibTorch's, which names the back end: by columns it is the one of matrices by rows.
  const char* kind = layout() == kStrided ? "" : is_sparse() ? "Sparse" : "SparseCsr";
  return kind + DeviceTypeName(device().type()) + hb::toString(scalar_type()) + "Type";
}

}  // namespace hb
