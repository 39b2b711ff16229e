// Methods of Tensor that are made of functions.
#include <halfbridge/autograd.h>
#include <halfbridge/deprecated_type.h>
#include <halfbridge/maybe_owned.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/gradients.h>
#include <halfbridge/stream.h>

#include "core/copy_values.h"
#include "core/cuda_api.h"
#include "core/warnings.h"

namespace hb {

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
namespace {
TensorOptions joined(std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory) {
  return TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory);
}
}  // namespace
Tensor Tensor::new_empty(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                         std::optional<Device> device, std::optional<bool> pin_memory) const {
  return new_empty(size, joined(dtype, layout, device, pin_memory));
}
Tensor Tensor::new_empty_strided(IntArrayRef size, IntArrayRef stride, std::optional<ScalarType> dtype,
                                 std::optional<Layout> layout, std::optional<Device> device,
                                 std::optional<bool> pin_memory) const {
  return new_empty_strided(size, stride, joined(dtype, layout, device, pin_memory));
}
Tensor Tensor::new_zeros(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                         std::optional<Device> device, std::optional<bool> pin_memory) const {
  return new_zeros(size, joined(dtype, layout, device, pin_memory));
}
Tensor Tensor::new_ones(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                        std::optional<Device> device, std::optional<bool> pin_memory) const {
  return new_ones(size, joined(dtype, layout, device, pin_memory));
}
Tensor Tensor::new_full(IntArrayRef size, const Scalar& value, std::optional<ScalarType> dtype,
                        std::optional<Layout> layout, std::optional<Device> device,
                        std::optional<bool> pin_memory) const {
  return new_full(size, value, joined(dtype, layout, device, pin_memory));
}
Tensor Tensor::to(std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                  std::optional<bool> pin_memory, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  return to(joined(dtype, layout, device, pin_memory), non_blocking, copy, format);
}
Tensor Tensor::new_tensor(const Tensor& data) const { return data.to(options(), false, true).detach(); }

Tensor Tensor::to_mkldnn(std::optional<ScalarType> /*dtype*/) const {
  HB_NOT_SUPPORTED("[to_mkldnn] tensors have no layouts of oneDNN's: functions choose one where it is faster");
}
std::vector<Tensor> Tensor::nonzero_numpy() const {
  if (dim() == 0) return unsqueeze(0).nonzero().unbind(1);
  return nonzero().unbind(1);
}
Tensor Tensor::hardshrink_backward(const Tensor& grad_out, const Scalar& lambd) const {
  return hb::hardshrink_backward(grad_out, *this, lambd);
}

Tensor Tensor::pin_memory(std::optional<Device> /*device*/) const {
  CudaApi* const api = find_cuda_api();
  if (!api)
    HB_NOT_SUPPORTED("[pin_memory] Cannot access accelerator device when none is available: pinned memory needs CUDA");
  HB_CHECK(layout() == kStrided && device().is_cpu(), "[pin_memory] cannot pin '", toString(),
           "' only dense CPU tensors can be pinned");
  if (numel() > 0 && api->is_pinned(impl().visible_data())) return *this;
  int64_t elements = numel() > 0 ? 1 : 0;  // up to the last one
  for (int64_t d = 0; d < dim() && elements > 0; ++d) elements += (size(d) - 1) * stride(d);
  void* const memory = api->allocate_pinned(static_cast<size_t>(elements) * itemsize());
  const auto give_back = [api](void* pinned) { api->free_pinned(pinned); };
  Tensor out = from_blob(memory, sizes(), strides(), give_back, TensorOptions().dtype(scalar_type()).device(kCPU));
  copy_values(out, *this);
  return out;
}

bool Tensor::is_pinned(std::optional<Device> /*device*/) const {
  if (layout() != kStrided || !impl().device().is_cpu()) return false;
  CudaApi* const api = find_cuda_api();
  return api && api->is_pinned(impl().visible_data());
}

void Tensor::record_stream(Stream stream) const {
  HB_CHECK(is_cuda() && stream.device().is_cuda(), "[record_stream] expected a tensor and a stream of CUDA, got ",
           device(), " and ", stream.device());
  cuda_api("record_stream").record_stream(impl().visible_data(), stream.id(), stream.device_index());
}

MaybeOwned<Tensor> Tensor::expect_contiguous(MemoryFormat format) const& {
  if (is_contiguous(format)) return MaybeOwned<Tensor>::borrowed(*this);
  return MaybeOwned<Tensor>::owned(contiguous(format));
}

Tensor Tensor::where(const Tensor& condition, const Scalar& other) const { return hb::where(condition, *this, other); }
Tensor Tensor::where(const Tensor& condition, const Tensor& other) const { return hb::where(condition, *this, other); }
Tensor Tensor::numpy_T() const {
  if (dim() == 0) {
    HB_WARN_ONCE("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.");
  } else if (dim() != 2) {
    HB_WARN_ONCE(
        "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated: `x.mT` transposes "
        "matrices, `x.permute` reverses dimensions.");
  }
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

Tensor DeprecatedTypeProperties::copy(const Tensor& source, bool non_blocking, std::optional<Device> to_device) const {
  return source.to(options(to_device), non_blocking, /*copy=*/true);
}

}  // namespace hb
