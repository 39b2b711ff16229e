#pragma once
// Parameters, gradients and states as the kernels of optimizers read and write them.

#include "backend/update_call.h"
#include "cuda/convert.h"

namespace hb::cuda {

/// Element i of memory that holds doubles, where T is double, else floats or halves.
template <class T>
__device__ inline T load_floating(const void* from, int64_t i, ScalarType dtype) {
  if constexpr (std::is_same_v<T, double>)
    return static_cast<const double*>(from)[i];
  else
    return dtype == kFloat ? static_cast<const float*>(from)[i]
                           : from_bits(static_cast<const uint16_t*>(from)[i], dtype == kHalf);
}
template <class T>
__device__ inline void store_floating(void* to, int64_t i, ScalarType dtype, T value) {
  if constexpr (std::is_same_v<T, double>)
    static_cast<double*>(to)[i] = value;
  else if (dtype == kFloat)
    static_cast<float*>(to)[i] = value;
  else
    static_cast<uint16_t*>(to)[i] = static_cast<uint16_t>(to_bits(value, dtype == kHalf));
}

/// The parameter as it is computed with: the master copy unless the parameter was changed since.
template <class T>
__device__ inline T param_value(const UpdateCall& call, const UpdateTensor& t, int64_t i) {
  if constexpr (std::is_same_v<T, float>) {
    if (t.master) {
      const float master = t.master[i];
      if (static_cast<const uint16_t*>(t.param)[i] == to_bits(master, call.param == kHalf)) return master;
    }
  }
  return load_floating<T>(t.param, i, call.param);
}

/// Gradients are multiplied by it.
template <class T>
__device__ inline T grad_factor(const UpdateCall& call) {
  const T inverse = call.grad_scale ? static_cast<float>(1.0 / static_cast<double>(*call.grad_scale)) : 1.0f;
  return call.maximize ? -inverse : inverse;
}
template <class T>
__device__ inline void store_param(const UpdateCall& call, const UpdateTensor& t, int64_t i, T value) {
  store_floating<T>(t.param, i, call.param, value);
  if constexpr (std::is_same_v<T, float>)
    if (t.master) t.master[i] = value;
}

}  // namespace hb::cuda
