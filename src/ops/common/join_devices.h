#pragma once
// A number on the CPU beside a tensor of a GPU, where a kernel reads both.

#include <halfbridge/tensor.h>

namespace hb::ops {

/// Of two tensors on two devices, that on the CPU (a number: others were refused) goes to the other's device.
inline void join_devices(Tensor& a, Tensor& b) {
  if (a.device() == b.device()) return;
  Tensor& number = a.device().is_cpu() ? a : b;
  number = number.to((a.device().is_cpu() ? b : a).device());
}

}  // namespace hb::ops
