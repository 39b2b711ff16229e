#pragma once
// How kernels are written, so that nvcc compiles them for a GPU and g++ for the software device of the tests.
//
//   template <class T>
//   __global__ void double_all(T* x, int64_t n) {
//     HB_SHARED(T, tile, 256);           // T* tile: 256 elements that the block shares
//     HB_DYNAMIC_SHARED(T, rows);        // T* rows: as many bytes as the launch asks for
//     HB_GRID_LOOP(i, n) x[i] *= 2;
//   }
//   HB_LAUNCH(double_all<float>, blocks, 256, shared_bytes, current_stream(), x, n);
//   HB_LAUNCH((pair<A, B>), …)           // commas need parentheses
//
// A large argument is HB_ARGUMENT(Type) name: the launch's own copy, which all threads read.
//
// Vectors of 16 bytes are read and written by load_vector and store_vector, which check their alignment in tests.

#include <cstdint>
#include <tuple>
#include <utility>

#include "cuda/runtime.h"

#ifdef HB_SOFTWARE_CUDA
#define HB_SHARED(T, name, count)                       \
  static ::software_cuda::Shared<T[count]> name##_room; \
  T* const name = *name##_room.of_block()
#define HB_DYNAMIC_SHARED(T, name) T* const name = reinterpret_cast<T*>(::software_cuda::dynamic_shared)
#define HB_ARGUMENT(...) const __VA_ARGS__&
#else
#define HB_ARGUMENT(...) __grid_constant__ const __VA_ARGS__
#define HB_SHARED(T, name, count)                                          \
  __shared__ __align__(16) unsigned char name##_room[sizeof(T) * (count)]; \
  T* const name = reinterpret_cast<T*>(name##_room)
#define HB_DYNAMIC_SHARED(T, name)                                   \
  extern __shared__ __align__(16) unsigned char hb_dynamic_shared[]; \
  T* const name = reinterpret_cast<T*>(hb_dynamic_shared)
#endif

#define HB_LAUNCH(kernel, grid, block, shared, stream, ...) \
  ::hb::cuda::launch(#kernel, kernel, dim3(grid), dim3(block), shared, stream, __VA_ARGS__)

namespace hb::cuda {

template <class... P, class... A>
void launch(const char* name, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
            A&&... arguments) {
#ifdef HB_SOFTWARE_CUDA
  ::software_cuda::launch(::software_cuda::lasting(std::string(current_function()) + ": " + name), kernel, grid, block,
                          shared, stream, std::forward<A>(arguments)...);
  check(cudaPeekAtLastError() == cudaErrorInvalidConfiguration ? cudaGetLastError() : cudaSuccess, name);
#else
  std::tuple<std::decay_t<P>...> values{static_cast<std::decay_t<P> >(arguments)...};
  std::apply(
      [&](auto&... v) {
        void* pointers[] = {&v...};
        check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, pointers, shared, stream), name);
      },
      values);
#endif
  after_launch(name);
}

constexpr int kWarp = 32;
constexpr unsigned kFullWarp = 0xffffffffu;
constexpr int kThreads = 256;

/// Blocks of `threads` for n elements, at most so many that each thread has some work; kernels walk the rest.
inline unsigned blocks_for(int64_t n, int per_block = kThreads) {
  const int64_t blocks = (n + per_block - 1) / per_block;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks);
}

/// The place of this thread in a grid of one dimension, and how many there are.
__device__ inline int64_t grid_thread() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline int64_t grid_threads() { return int64_t{gridDim.x} * blockDim.x; }

/// A loop over n elements, which the threads of the grid share.
#define HB_GRID_LOOP(i, n) \
  for (int64_t i = ::hb::cuda::grid_thread(), i##_step = ::hb::cuda::grid_threads(); i < (n); i += i##_step)

template <class V>
__device__ inline V load_vector(const void* from) {
#ifdef HB_SOFTWARE_CUDA
  if (reinterpret_cast<uintptr_t>(from) % alignof(V) != 0)
    ::software_cuda::fail_lane("reads %zu bytes at an address that is not aligned to %zu", sizeof(V), alignof(V));
#endif
  return *static_cast<const V*>(from);
}
template <class V>
__device__ inline void store_vector(void* to, const V& value) {
#ifdef HB_SOFTWARE_CUDA
  if (reinterpret_cast<uintptr_t>(to) % alignof(V) != 0)
    ::software_cuda::fail_lane("writes %zu bytes at an address that is not aligned to %zu", sizeof(V), alignof(V));
#endif
  *static_cast<V*>(to) = value;
}

}  // namespace hb::cuda
