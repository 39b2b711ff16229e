#pragma once
// <ATen/ScalarOps.h>: numbers as tensors of no dimension.

#include <halfbridge/ops/factories.h>
#include <halfbridge/tensor.h>

namespace hb::bridge {
inline namespace api {

/// In the number's own dtype: double, int64, bool or complex double.
inline Tensor scalar_to_tensor(const Scalar& value, Device device = kCPU) {
  return scalar_tensor(value, TensorOptions().dtype(value.type()).device(device));
}

}  // namespace api
}  // namespace hb::bridge
