#pragma once
// Elements of any dtype as what is computed in, and back.

#include <type_traits>

#include <halfbridge/dtype.h>
#include <halfbridge/error.h>

#include "cuda/launch.h"
#include "formulas/compared.h"

namespace hb::cuda {

/// One element, as the CPU converts it: floating to narrow integers goes by way of a wider one.
template <class To, class From>
__host__ __device__ inline To convert(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (is_complex_v<To> && is_complex_v<From>) {
    using Part = typename To::value_type;
    return To(static_cast<Part>(v.real()), static_cast<Part>(v.imag()));
  } else if constexpr (is_complex_v<To>) {
    return To(convert<typename To::value_type>(v));
  } else if constexpr (is_complex_v<From>) {  // the imaginary part is lost, but what is not zero stays true
    if constexpr (std::is_same_v<To, bool>)
      return v.real() != 0 || v.imag() != 0;
    else
      return convert<To>(v.real());
  } else if constexpr (is_half_v<From>) {
    return convert<To>(static_cast<float>(v));
  } else if constexpr (is_half_v<To>) {
    return To(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4) {
    return static_cast<To>(static_cast<int32_t>(v));
  } else {
    return static_cast<To>(v);
  }
}

/// Whether an element of type X may be computed in T: complex numbers in complex ones alone.
template <class T, class X>
constexpr bool computed_in = is_complex_v<T> || !is_complex_v<X>;

template <class T, class X>
__host__ __device__ inline T load_one(const void* at) {
  if constexpr (computed_in<T, X>) return convert<T>(*static_cast<const X*>(at));
  return T();
}
/// On the host, for numbers of the host.
template <class T>
__host__ __device__ inline T load_as(const void* at, ScalarType dtype) {
  switch (dtype) {
#define HB_CASE(X, Name) \
  case ScalarType::Name: \
    return load_one<T, X>(at);
    HB_FORALL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      return T();
  }
}

template <class T>
__device__ inline void store_as(void* at, ScalarType dtype, T value) {
  switch (dtype) {
#define HB_CASE(X, Name)                      \
  case ScalarType::Name:                      \
    *static_cast<X*>(at) = convert<X>(value); \
    return;
    HB_FORALL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      return;
  }
}

/// Eight floats from or to consecutive elements of a type of floats or halves, in accesses of 16 bytes.
constexpr int kVector = 8;
__device__ inline float from_bits(uint32_t bits, bool half) {
  const auto x = static_cast<uint16_t>(bits);
  return half ? static_cast<float>(Half(x, Half::from_bits())) : static_cast<float>(BFloat16(x, BFloat16::from_bits()));
}
__device__ inline uint32_t to_bits(float x, bool half) { return half ? Half(x).x : BFloat16(x).x; }
__device__ inline void load_floats(float* x, const void* at, ScalarType dtype) {
  if (dtype == kFloat) {
    const float4 a = load_vector<float4>(at), b = load_vector<float4>(static_cast<const float4*>(at) + 1);
    x[0] = a.x, x[1] = a.y, x[2] = a.z, x[3] = a.w, x[4] = b.x, x[5] = b.y, x[6] = b.z, x[7] = b.w;
    return;
  }
  const bool half = dtype == kHalf;
  const uint4 v = load_vector<uint4>(at);
  x[0] = from_bits(v.x, half), x[1] = from_bits(v.x >> 16, half);
  x[2] = from_bits(v.y, half), x[3] = from_bits(v.y >> 16, half);
  x[4] = from_bits(v.z, half), x[5] = from_bits(v.z >> 16, half);
  x[6] = from_bits(v.w, half), x[7] = from_bits(v.w >> 16, half);
}
__device__ inline void store_floats(void* at, ScalarType dtype, const float* x) {
  if (dtype == kFloat) {
    store_vector(at, float4{x[0], x[1], x[2], x[3]});
    store_vector(static_cast<float4*>(at) + 1, float4{x[4], x[5], x[6], x[7]});
    return;
  }
  const bool half = dtype == kHalf;
  const auto pair = [half](float a, float b) { return to_bits(a, half) | to_bits(b, half) << 16; };
  store_vector(at, uint4{pair(x[0], x[1]), pair(x[2], x[3]), pair(x[4], x[5]), pair(x[6], x[7])});
}

}  // namespace hb::cuda
