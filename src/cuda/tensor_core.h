#pragma once
// Tensor cores: a warp multiplies small matrices of Half, BFloat16 or float, sums in float. Each lane holds some
// elements of each matrix, g being lane / 4 and t lane % 4:
//
//   MatrixA (16, 16)  pair 0: row g, columns 2t, 2t + 1; pair 1: row g + 8; pairs 2 and 3: the same, 8 columns further
//   MatrixB (16, 8)   pair 0: rows 2t, 2t + 1 of column g; pair 1: 8 rows further
//   MatrixC (16, 8)   0, 1: row g, columns 2t, 2t + 1; 2, 3: row g + 8
//
// So two MatrixC beside each other, rounded, are a MatrixA. Of floats, which are not rounded:
//
//   MatrixA (16, 16)  0: row g, column t; 1: row g + 8; 2, 3: the same, 4 columns further; 4 to 7: 8 columns further
//   MatrixB (16, 8)   0: row t of column g; 1 to 3: 4, 8, 12 rows further
//
// where two MatrixC beside each other are a MatrixA whose columns 2t and 2t + 1 stand at t and t + 4. All lanes of a
// warp call these functions together.

#include <halfbridge/half.h>

#include <cmath>
#include <type_traits>

#include "cuda/launch.h"
#ifdef HB_SOFTWARE_CUDA
#include "software_cuda/tensor_core.h"
#endif

namespace hb::cuda {

template <class T>
struct MatrixA {
  uint32_t pairs[4];
};
template <class T>
struct MatrixB {
  uint32_t pairs[2];
};
template <>
struct MatrixA<float> {
  float x[8];
};
template <>
struct MatrixB<float> {
  float x[4];
};
struct MatrixC {
  float x[4] = {0, 0, 0, 0};
};

/// c += a b.
template <class T>
__device__ inline void mma(MatrixC& c, const MatrixA<T>& a, const MatrixB<T>& b) {
#ifdef HB_SOFTWARE_CUDA
  ::software_cuda::carry_out({a.pairs, b.pairs, c.x}, &::software_cuda::multiply_matrices<T>);
#else
#define HB_MMA(dtype)                                                                 \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." dtype "." dtype               \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])               \
               : "r"(a.pairs[0]), "r"(a.pairs[1]), "r"(a.pairs[2]), "r"(a.pairs[3]), "r"(b.pairs[0]), "r"(b.pairs[1]))
  if constexpr (std::is_same_v<T, Half>)
    HB_MMA("f16");
  else
    HB_MMA("bf16");
#undef HB_MMA
#endif
}

/// c += a b, of TF32: a (16, 8), b (8, 8), as the first halves of MatrixA and MatrixB lie.
__device__ inline void mma_tf32(MatrixC& c, const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#ifdef HB_SOFTWARE_CUDA
  ::software_cuda::carry_out({a, b, c.x}, &::software_cuda::multiply_tf32);
#else
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

/// Floats as sums of two of TF32, which has 11 bits of the 24: of infinity the second is NaN.
template <int kCount>
struct SplitFloats {
  uint32_t upper[kCount], lower[kCount];
  __device__ explicit SplitFloats(const float* x) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      upper[i] = __builtin_bit_cast(uint32_t, x[i]) & 0xffffe000u;
      lower[i] = __builtin_bit_cast(uint32_t, x[i] - __builtin_bit_cast(float, upper[i]));
    }
  }
};
/// c += a b within 2^-21 or so of each product: three of the four products of upper and lower parts.
__device__ inline void mma(MatrixC& c, const MatrixA<float>& a, const MatrixB<float>& b) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const SplitFloats<4> x(a.x + 4 * half);
    const SplitFloats<2> y(b.x + 2 * half);
    mma_tf32(c, x.lower, y.upper);
    mma_tf32(c, x.upper, y.lower);
    mma_tf32(c, x.upper, y.upper);
  }
}

#ifndef HB_SOFTWARE_CUDA
__device__ inline unsigned shared_address(const void* memory) {
  return static_cast<unsigned>(__cvta_generic_to_shared(memory));
}
#endif

/// Four matrices of 8 x 8 from shared memory, lane i giving the address of row i % 8 of matrix i / 8 (16 bytes,
/// aligned). A lane gets columns 2t, 2t + 1 of each matrix's row g, or rows 2t, 2t + 1 of its column g. Of floats, 8 x
/// 4: column t of row g.
template <bool kTransposed>
__device__ inline void load_matrices(uint32_t (&to)[4], const void* row) {
#ifdef HB_SOFTWARE_CUDA
  ::software_cuda::carry_out({to, row}, &::software_cuda::load_matrices<kTransposed>);
#else
  if constexpr (kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
#endif
}

/// Two numbers, rounded, the first in the lower half; or a float2.
template <class T>
__device__ inline auto round_pair(float low, float high) {
  if constexpr (std::is_same_v<T, float>) {
    return make_float2(low, high);
  } else {
#ifdef HB_SOFTWARE_CUDA
    return T(low).x | static_cast<uint32_t>(T(high).x) << 16;
#else
    uint32_t pair;
    if constexpr (std::is_same_v<T, Half>)
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    else
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#endif
  }
}
/// The columns of `left` and `right` beside each other.
template <class T>
__device__ inline MatrixA<T> round_matrices(const MatrixC& left, const MatrixC& right) {
  const float *const l = left.x, *const r = right.x;
  if constexpr (std::is_same_v<T, float>)
    return {{l[0], l[2], l[1], l[3], r[0], r[2], r[1], r[3]}};
  else
    return {
        {round_pair<T>(l[0], l[1]), round_pair<T>(l[2], l[3]), round_pair<T>(r[0], r[1]), round_pair<T>(r[2], r[3])}};
}

/// 2^x; a subnormal result may be 0.
__device__ inline float power_of_two(float x) {
#ifdef HB_SOFTWARE_CUDA
  return std::exp2(x);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

/// Begins to copy 16 bytes into shared memory, both addresses aligned; zeros where they are not `there`: nothing is
/// read then, wherever `from` points.
__device__ inline void begin_copy(void* shared, const void* from, bool there) {
#ifdef HB_SOFTWARE_CUDA
  ::software_cuda::begin_copy(shared, from, there, 16);
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(from),
               "r"(there ? 16 : 0)
               : "memory");
#endif
}
/// The same with a float, for numbers that stand beside tiles.
__device__ inline void begin_copy_of_float(float* shared, const float* from, bool there) {
#ifdef HB_SOFTWARE_CUDA
  ::software_cuda::begin_copy(shared, from, there, 4);
#else
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(shared)), "l"(from),
               "r"(there ? 4 : 0)
               : "memory");
#endif
}
/// Waits for all copies that this thread began; those of others need a barrier, too.
__device__ inline void wait_for_copies() {
#ifdef HB_SOFTWARE_CUDA
  ::software_cuda::wait_for_copies();
#else
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace hb::cuda
