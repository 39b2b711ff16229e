// Copies between any two dtypes and layouts, and fills.
#include <cstring>

#include "backend/elementwise.h"
#include "cuda/formula_kernel.h"
#include "cuda/words.h"

namespace hb::formula {
namespace {
struct identity : Formula<1, 0, Kinds::numbers> {
  template <class T>
  static HB_HD T apply(const T*, T x) {
    return x;
  }
};
}  // namespace
}  // namespace hb::formula

namespace hb::cuda {
/// What a copy converts from and to: it takes nothing else than these in T (travels_as).
template <>
struct UsualTypes<formula::identity, float> : Types<float, BFloat16, Half, double, int64_t, int32_t, uint8_t, bool> {};
template <>
struct UsualTypes<formula::identity, double> : Types<double, float, BFloat16, Half, int64_t, int32_t, uint8_t, bool> {};
template <>
struct UsualTypes<formula::identity, int64_t>
    : Types<int64_t, int32_t, int16_t, int8_t, uint8_t, bool, float, BFloat16, Half, double> {};

namespace {

/// Elements as bits. `from` may be one element for all.
template <class Bits>
__global__ void __launch_bounds__(kThreads) move_kernel(HB_ARGUMENT(Walk) walk) {
  constexpr uint32_t block = kThreads * kAtOnce;
  for (int64_t first = int64_t{blockIdx.x} * block + threadIdx.x; first < walk.numel;
       first += int64_t{gridDim.x} * block) {
    int32_t offset[kAtOnce][2];
    Bits moved[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const auto i = static_cast<uint32_t>(first) + j * kThreads;
      walk.offsets<2>(i < walk.numel ? i : static_cast<uint32_t>(first), offset[j]);
      moved[j] = *reinterpret_cast<const Bits*>(walk.data[1] + offset[j][1]);
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j)
      if (first + j * kThreads < walk.numel) *reinterpret_cast<Bits*>(walk.data[0] + offset[j][0]) = moved[j];
  }
}

template <class Bits>
__global__ void __launch_bounds__(kThreads) fill_kernel_of(HB_ARGUMENT(Walk) walk, Bits value) {
  HB_GRID_LOOP(i, walk.numel) {
    int32_t offset[1];
    walk.offsets<1>(static_cast<uint32_t>(i), offset);
    *reinterpret_cast<Bits*>(walk.data[0] + offset[0]) = value;
  }
}

/// Contiguous memory in vectors of 16 bytes, which repeat `value`.
__global__ void __launch_bounds__(kThreads) fill_vectors(char* to, int64_t bytes, uint4 value) {
  const int64_t vectors = bytes / 16;
  for (int64_t first = int64_t{blockIdx.x} * kThreads * kAtOnce + threadIdx.x; first < vectors;
       first += grid_threads() * kAtOnce)
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j)
      if (first + j * kThreads < vectors) store_vector(reinterpret_cast<uint4*>(to) + first + j * kThreads, value);
  const int64_t i = vectors * 16 + grid_thread();
  if (i < bytes) to[i] = reinterpret_cast<const char*>(&value)[i % 16];
}

void move(const Walk& walk, const void*) {
  const size_t size = element_size(walk.dtype[0]);
  if (!(walk.numbers & 2) && contiguous(walk, 1) && walk.stride[0][1] != 0) {
    check(cudaMemcpyAsync(walk.data[0], walk.data[1], walk.numel * size, cudaMemcpyDeviceToDevice, current_stream()),
          "copy_");
    return;
  }
  with_word(size, [&](auto bits) {
    HB_LAUNCH((move_kernel<decltype(bits)>), blocks_for(walk.numel, kThreads * kAtOnce), kThreads, 0, current_stream(),
              walk);
  });
}

void fill_bits(const Walk& walk, const void* bits) {
  const size_t size = element_size(walk.dtype[0]);
  if (contiguous(walk, kVector)) {
    uint4 value;
    for (size_t at = 0; at < 16; at += size) std::memcpy(reinterpret_cast<char*>(&value) + at, bits, size);
    const auto bytes = static_cast<int64_t>(walk.numel * size);
    HB_LAUNCH(fill_vectors, blocks_for(bytes, kThreads * kAtOnce * 16), kThreads, 0, current_stream(), walk.data[0],
              bytes, value);
    return;
  }
  with_word(size, [&](auto value) {
    std::memcpy(&value, bits, size);
    HB_LAUNCH((fill_kernel_of<decltype(value)>), blocks_for(walk.numel), kThreads, 0, current_stream(), walk, value);
  });
}

/// In which type an element travels: each value of the source is exact in it.
ScalarType travels_as(ScalarType from) {
  if (is_complex_type(from) || from == kDouble) return from;
  return is_floating_type(from) ? kFloat : kLong;
}

void fill_cuda(const Loop& loop, const Scalar& value);

void copy_cuda(const Loop& loop) {
  if (loop.numbers & 2) {
    switch (loop.op[1].dtype) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return fill_cuda(loop, Scalar(*reinterpret_cast<const T*>(loop.op[1].data)));
      HB_FORALL_COMPUTED_DTYPES(HB_CASE)
#undef HB_CASE
      default:
        HB_NOT_SUPPORTED("[copy_] is not supported for dtype ", loop.op[1].dtype);
    }
  }
  const ScalarType to = loop.op[0].dtype, from = loop.op[1].dtype;
  if (to == from) return for_walks("copy_", loop, move, nullptr);
  if (from == kUInt64 && !is_integral_type(to, true))
    HB_NOT_SUPPORTED("[copy_] from UInt64 to ", to, " is not supported on a CUDA device");
  run_formula<formula::identity>("copy_", {nullptr, &loop, travels_as(from), {}});
}

void fill_cuda(const Loop& loop, const Scalar& value) {
  char bits[16] = {};
  switch (loop.op[0].dtype) {
#define HB_CASE(T, Name)                    \
  case ScalarType::Name: {                  \
    const T element = value.to<T>();        \
    std::memcpy(bits, &element, sizeof(T)); \
    break;                                  \
  }
    HB_FORALL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[fill_] is not supported for dtype ", loop.op[0].dtype);
  }
  Loop out = loop;
  out.operands = 1;
  for_walks("fill_", out, fill_bits, bits);
}

HB_REGISTER_CUDA(copy_kernel, copy_cuda);
HB_REGISTER_CUDA(fill_kernel, fill_cuda);

}  // namespace
}  // namespace hb::cuda
