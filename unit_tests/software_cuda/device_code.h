#pragma once
// What device code names, for g++. Lanes are fibers (lanes.h); exactly one runs at a time, so that atomics are plain.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "software_cuda/lanes.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __grid_constant__

constexpr int warpSize = 32;

inline void __syncthreads() { software_cuda::meet_block(); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __syncwarp(unsigned mask = 0xffffffffu) { software_cuda::meet_warp(software_cuda::Meeting::warp, mask); }
inline unsigned __ballot_sync(unsigned mask, int truth) {
  return static_cast<unsigned>(software_cuda::meet_warp(software_cuda::Meeting::ballot, mask, truth != 0));
}
inline int __any_sync(unsigned mask, int truth) { return __ballot_sync(mask, truth) != 0; }
inline int __all_sync(unsigned mask, int truth) { return __ballot_sync(mask, !truth) == 0; }

namespace software_cuda {

template <class T>
T shuffle(unsigned mask, T value, int source) {
  static_assert(sizeof(T) <= 8);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = meet_warp(Meeting::shuffle, mask, bits, source);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
/// The lane to read where a shuffle stays in groups of `width`: itself where the source is outside of its group.
inline int within(int source, int width, bool up) {
  const int self = static_cast<int>(lane_of_warp()), first = self / width * width;
  const bool outside = up ? source < first : source >= first + width;
  return outside ? self : source;
}

}  // namespace software_cuda

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const int self = static_cast<int>(software_cuda::lane_of_warp());
  return software_cuda::shuffle(mask, value, self / width * width + source % width);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int source = static_cast<int>(software_cuda::lane_of_warp()) - static_cast<int>(delta);
  return software_cuda::shuffle(mask, value, software_cuda::within(source, width, true));
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int source = static_cast<int>(software_cuda::lane_of_warp() + delta);
  return software_cuda::shuffle(mask, value, software_cuda::within(source, width, false));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
  const int source = static_cast<int>(software_cuda::lane_of_warp()) ^ lanes;
  return software_cuda::shuffle(mask, value, software_cuda::within(source, width, false));
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return static_cast<unsigned>(software_cuda::meet_warp(software_cuda::Meeting::match, mask, bits));
}

/// How many threads of the block have it, or whether any or all have.
inline int __syncthreads_count(int truth) {
  static int count;
  static uint64_t counted = 0;
  __syncthreads();
  if (counted != software_cuda::block_number) counted = software_cuda::block_number, count = 0;
  count += truth != 0;
  __syncthreads();
  const int result = count;
  __syncthreads();
  count = 0;
  return result;
}
inline int __syncthreads_or(int truth) { return __syncthreads_count(truth) != 0; }
inline int __syncthreads_and(int truth) { return __syncthreads_count(!truth) == 0; }

namespace software_cuda {
/// Set where floating numbers are added in the order in which lanes come.
inline bool adds_in_any_order = false;
}  // namespace software_cuda

template <class T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  if constexpr (!std::is_integral_v<T>) software_cuda::adds_in_any_order = true;
  const T old = *at;
  *at = old + value;
  return old;
}
#define SOFTWARE_CUDA_ATOMIC(name, expression)           \
  template <class T>                                     \
  T atomic##name(T* at, std::type_identity_t<T> value) { \
    const T old = *at;                                   \
    *at = expression;                                    \
    return old;                                          \
  }
SOFTWARE_CUDA_ATOMIC(Exch, value)
SOFTWARE_CUDA_ATOMIC(Max, old < value ? value : old)
SOFTWARE_CUDA_ATOMIC(Min, value < old ? value : old)
SOFTWARE_CUDA_ATOMIC(And, old& value)
SOFTWARE_CUDA_ATOMIC(Or, old | value)
#undef SOFTWARE_CUDA_ATOMIC
template <class T>
T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  const T old = *at;
  if (old == expected) *at = value;
  return old;
}

template <class T>
T __ldg(const T* at) {
  return *at;
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(uint64_t{a} * b >> 32); }
template <class To, class From>
To software_cuda_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
inline int __float_as_int(float x) { return software_cuda_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return software_cuda_bits<unsigned>(x); }
inline float __int_as_float(int x) { return software_cuda_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return software_cuda_bits<float>(x); }
inline long long __double_as_longlong(double x) { return software_cuda_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return software_cuda_bits<double>(x); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline float __frcp_rn(float a) { return 1 / a; }
inline void sincospif(float x, float* s, float* c) {
  *s = static_cast<float>(std::sin(M_PI * x));
  *c = static_cast<float>(std::cos(M_PI * x));
}
inline void sincospi(double x, double* s, double* c) {
  *s = std::sin(M_PI * x);
  *c = std::cos(M_PI * x);
}
