#pragma once
// The functions of torch::stable: the engine's, for its tensors.

#include <optional>
#include <string>
#include <utility>

#include <halfbridge/bridge/context.h>
#include <halfbridge/bridge/stable/tensor.h>
#include <halfbridge/ops.h>

namespace hb::bridge::stable {

namespace detail {
inline TensorOptions options(std::optional<ScalarType> dtype, std::optional<Layout> layout,
                             const std::optional<Device>& device, std::optional<bool> pin_memory) {
  TensorOptions result;
  if (dtype) result = result.dtype(*dtype);
  if (layout) result = result.layout(*layout);
  if (device) result = result.device(hb::Device(*device));
  if (pin_memory) result = result.pinned_memory(*pin_memory);
  return result;
}
}  // namespace detail

inline Tensor empty(IntArrayRef size, std::optional<ScalarType> dtype = std::nullopt,
                    std::optional<Layout> layout = std::nullopt, std::optional<Device> device = std::nullopt,
                    std::optional<bool> pin_memory = std::nullopt,
                    std::optional<MemoryFormat> memory_format = std::nullopt) {
  return Tensor(hb::empty(size, detail::options(dtype, layout, device, pin_memory), memory_format));
}
inline Tensor full(IntArrayRef size, double value, std::optional<ScalarType> dtype = std::nullopt,
                   std::optional<Layout> layout = std::nullopt, std::optional<Device> device = std::nullopt,
                   std::optional<bool> pin_memory = std::nullopt) {
  return Tensor(hb::full(size, value, detail::options(dtype, layout, device, pin_memory)));
}
inline Tensor empty_like(const Tensor& self) { return Tensor(hb::empty_like(self.of_engine())); }
inline Tensor new_empty(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype = std::nullopt,
                        std::optional<Layout> layout = std::nullopt, std::optional<Device> device = std::nullopt,
                        std::optional<bool> pin_memory = std::nullopt) {
  return Tensor(self.of_engine().new_empty(size, detail::options(dtype, layout, device, pin_memory)));
}
inline Tensor new_zeros(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype = std::nullopt,
                        std::optional<Layout> layout = std::nullopt, std::optional<Device> device = std::nullopt,
                        std::optional<bool> pin_memory = std::nullopt) {
  return Tensor(self.of_engine().new_zeros(size, detail::options(dtype, layout, device, pin_memory)));
}
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const Device& device, ScalarType dtype,
                        int64_t storage_offset = 0, Layout layout = Layout::Strided) {
  auto options = detail::options(dtype, layout, device, std::nullopt);
  return Tensor(hb::from_blob(data, sizes, strides, options).as_strided(sizes, strides, storage_offset));
}
template <class Deleter>
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const Device& device, ScalarType dtype,
                 Deleter deleter, int64_t storage_offset = 0, Layout layout = Layout::Strided) {
  auto options = detail::options(dtype, layout, device, std::nullopt);
  return Tensor(
      hb::from_blob(data, sizes, strides, std::move(deleter), options).as_strided(sizes, strides, storage_offset));
}

inline Tensor fill_(const Tensor& self, double value) { return Tensor(self.of_engine().fill_(value)); }
inline Tensor zero_(Tensor& self) { return Tensor(self.of_engine().zero_()); }
inline Tensor copy_(Tensor& self, const Tensor& source, std::optional<bool> non_blocking = std::nullopt) {
  return Tensor(self.of_engine().copy_(source.of_engine(), non_blocking.value_or(false)));
}
inline Tensor clone(const Tensor& self) { return Tensor(self.of_engine().clone()); }
inline Tensor contiguous(const Tensor& self, MemoryFormat memory_format = MemoryFormat::Contiguous) {
  return Tensor(self.of_engine().contiguous(memory_format));
}
inline Tensor to(const Tensor& self, std::optional<ScalarType> dtype = std::nullopt,
                 std::optional<Layout> layout = std::nullopt, std::optional<Device> device = std::nullopt,
                 std::optional<bool> pin_memory = std::nullopt, bool non_blocking = false, bool copy = false,
                 std::optional<MemoryFormat> memory_format = std::nullopt) {
  return Tensor(
      self.of_engine().to(detail::options(dtype, layout, device, pin_memory), non_blocking, copy, memory_format));
}
inline Tensor to(const Tensor& self, const Device& device, bool non_blocking = false, bool copy = false) {
  return to(self, std::nullopt, std::nullopt, device, std::nullopt, non_blocking, copy);
}

inline Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return Tensor(self.of_engine().narrow(dim, start, length));
}
inline Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  return Tensor(self.of_engine().select(dim, index));
}
inline Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  return Tensor(self.of_engine().transpose(dim0, dim1));
}
inline Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1) {
  return Tensor(self.of_engine().flatten(start_dim, end_dim));
}
inline Tensor unsqueeze(const Tensor& self, int64_t dim) { return Tensor(self.of_engine().unsqueeze(dim)); }
inline Tensor squeeze(const Tensor& self, int64_t dim) { return Tensor(self.of_engine().squeeze(dim)); }
inline Tensor reshape(const Tensor& self, IntArrayRef shape) { return Tensor(self.of_engine().reshape(shape)); }
inline Tensor view(const Tensor& self, IntArrayRef size) { return Tensor(self.of_engine().view(size)); }
inline Tensor pad(const Tensor& self, IntArrayRef widths, const std::string& mode = "constant", double value = 0.0) {
  return Tensor(hb::pad(self.of_engine(), widths, mode, value));
}

inline Tensor amax(const Tensor& self, int64_t dim, bool keepdim = false) {
  return Tensor(self.of_engine().amax(dim, keepdim));
}
inline Tensor amax(const Tensor& self, IntArrayRef dims, bool keepdim = false) {
  return Tensor(self.of_engine().amax(dims, keepdim));
}
inline Tensor sum(const Tensor& self, std::optional<IntArrayRef> dim = std::nullopt, bool keepdim = false,
                  std::optional<ScalarType> dtype = std::nullopt) {
  return Tensor(hb::sum(self.of_engine(), dim, keepdim, dtype));
}
inline Tensor& sum_out(Tensor& out, const Tensor& self, std::optional<IntArrayRef> dim = std::nullopt,
                       bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) {
  hb::Tensor result = out.of_engine();
  hb::sum_out(result, self.of_engine(), dim, keepdim, dtype);
  return out;
}
inline Tensor subtract(const Tensor& self, const Tensor& other, double alpha = 1.0) {
  return Tensor(hb::sub(self.of_engine(), other.of_engine(), alpha));
}
inline Tensor matmul(const Tensor& self, const Tensor& other) {
  return Tensor(hb::matmul(self.of_engine(), other.of_engine()));
}

template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const F& f) {
  bridge::parallel_for(begin, end, grain_size, f);
}
inline uint32_t get_num_threads() { return static_cast<uint32_t>(hb::get_num_threads()); }

}  // namespace hb::bridge::stable
