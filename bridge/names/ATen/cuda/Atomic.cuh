#pragma once
// gpuAtomicAdd and its like for every type of numbers, for programs that nvcc compiles.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

namespace hb::bridge::cuda::atomics {

/// Replaces *address by f(*address), all at once; types of 1, 2, 4 and 8 bytes. The value before.
template <class T, class F>
__device__ T update(T* address, F f) {
  using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  const auto place = reinterpret_cast<uintptr_t>(address);
  auto* const word = reinterpret_cast<Word*>(place & ~(sizeof(Word) - 1));
  const int shift = static_cast<int>(place & (sizeof(Word) - 1)) * 8;
  constexpr Word all = ~Word{0} >> ((sizeof(Word) - sizeof(T)) * 8);
  Word seen = *word, assumed;
  T before;
  do {
    assumed = seen;
    const Word bits = (assumed >> shift) & all;
    memcpy(&before, &bits, sizeof(T));
    const T after = f(before);
    Word put = 0;
    memcpy(&put, &after, sizeof(T));
    seen = atomicCAS(word, assumed, (assumed & ~(all << shift)) | (put << shift));
  } while (seen != assumed);
  return before;
}

/// The hardware's addition for these.
template <class T>
inline constexpr bool hardware_adds =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int32_t> || std::is_same_v<T, uint32_t>;

template <class T>
__device__ T add(T* address, T value) {
  if constexpr (hardware_adds<T>) {
    return atomicAdd(address, value);
  } else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    using Bits = unsigned long long;
    return static_cast<T>(atomicAdd(reinterpret_cast<Bits*>(address), static_cast<Bits>(value)));
  } else {
    return update(address, [value](T t) { return static_cast<T>(t + value); });
  }
}

}  // namespace hb::bridge::cuda::atomics

template <class T>
static __device__ inline T gpuAtomicAdd(T* address, T value) {
  return ::hb::bridge::cuda::atomics::add(address, value);
}
template <class T>
static __device__ inline void gpuAtomicAddNoReturn(T* address, T value) {
  ::hb::bridge::cuda::atomics::add(address, value);
}
template <class T>
static __device__ inline T gpuAtomicMul(T* address, T value) {
  return ::hb::bridge::cuda::atomics::update(address, [value](T t) { return static_cast<T>(t * value); });
}
// NaN wins, as in torch::maximum.
template <class T>
static __device__ inline T gpuAtomicMax(T* address, T value) {
  return ::hb::bridge::cuda::atomics::update(address, [value](T t) { return t != t || t > value ? t : value; });
}
template <class T>
static __device__ inline T gpuAtomicMin(T* address, T value) {
  return ::hb::bridge::cuda::atomics::update(address, [value](T t) { return t != t || t < value ? t : value; });
}
// CUDA's own name for the types that it leaves out.
static __device__ inline c10::Half atomicAdd(c10::Half* address, c10::Half value) {
  return ::hb::bridge::cuda::atomics::add(address, value);
}
static __device__ inline c10::BFloat16 atomicAdd(c10::BFloat16* address, c10::BFloat16 value) {
  return ::hb::bridge::cuda::atomics::add(address, value);
}
static __device__ inline int64_t atomicAdd(int64_t* address, int64_t value) {
  return ::hb::bridge::cuda::atomics::add(address, value);
}
