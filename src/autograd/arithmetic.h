#pragma once
// The functions of tensors with which gradients are summed, cast and laid out, and with which autocast casts. They
// stand in src/ops, above autograd, which fills this in when the library loads (ops/common/arithmetic.cpp).

#include <optional>

#include <halfbridge/tensor.h>

namespace hb::autodiff {

struct Arithmetic {
  Tensor (*add)(const Tensor& a, const Tensor& b);
  void (*add_)(Tensor& self, const Tensor& other);
  /// a + b, which a device computes when it is needed; undefined where it does not.
  Tensor (*late_sum)(const Tensor& a, const Tensor& b);
  Tensor (*clone)(const Tensor& self, std::optional<MemoryFormat> format);
  void (*copy_)(Tensor& self, const Tensor& source);
  void (*zero_)(Tensor& self);
  Tensor (*ones_like)(const Tensor& self, MemoryFormat format);
  /// The sum over what broadcasting `size` to the tensor's sizes has repeated.
  Tensor (*sum_to)(const Tensor& self, IntArrayRef size);
  /// The tensor itself where it has the dtype; of complex numbers their real parts where it is a real one.
  Tensor (*cast)(const Tensor& self, ScalarType dtype);
  Tensor (*to_device)(const Tensor& self, const Device& device);
  Tensor (*as_strided)(const Tensor& self, IntArrayRef size, IntArrayRef stride, int64_t offset);
};
inline constinit Arithmetic arithmetic{};

}  // namespace hb::autodiff
