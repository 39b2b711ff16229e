#pragma once
// at::tensor: a 1-d tensor of the values' own dtype, where torch::tensor takes int64 for int and the default dtype for
// double, and knows single values and nested lists.

#include <initializer_list>
#include <type_traits>
#include <vector>

#include <halfbridge/ops/factories.h>
#include <halfbridge/tensor.h>

namespace hb::bridge::of_at {

/// The values as a tensor (n) of the options' dtype, or else of T's.
template <class T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
  const Tensor own = hb::tensor(values, TensorOptions(dtype_of<T>::value));
  return own.to(options.has_dtype() ? options.dtype().toScalarType() : own.scalar_type())
      .to(options.device())
      .requires_grad_(options.requires_grad());
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  return of_at::tensor(ArrayRef<T>(values.begin(), values.size()), options);
}
template <class T>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
  return of_at::tensor(ArrayRef<T>(values), options);
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, Half> ||
                                            std::is_same_v<T, BFloat16> || is_complex_v<T>>>
Tensor tensor(T value, const TensorOptions& options = {}) {
  return of_at::tensor(ArrayRef<T>(&value, 1), options);
}

}  // namespace hb::bridge::of_at
