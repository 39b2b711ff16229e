#pragma once
// Elementary functions by one name for float and double, in kernels.
#include <cmath>

namespace c10::cuda::compat {

#define HB_COMPAT_1(name)                                                 \
  __host__ __device__ inline float name(float x) { return ::name##f(x); } \
  __host__ __device__ inline double name(double x) { return ::name(x); }
HB_COMPAT_1(ceil)
HB_COMPAT_1(exp)
HB_COMPAT_1(floor)
HB_COMPAT_1(log)
HB_COMPAT_1(log1p)
HB_COMPAT_1(sin)
HB_COMPAT_1(cos)
HB_COMPAT_1(sqrt)
HB_COMPAT_1(tan)
HB_COMPAT_1(tanh)
#undef HB_COMPAT_1
#define HB_COMPAT_2(name)                                                             \
  __host__ __device__ inline float name(float x, float y) { return ::name##f(x, y); } \
  __host__ __device__ inline double name(double x, double y) { return ::name(x, y); }
HB_COMPAT_2(copysign)
HB_COMPAT_2(pow)
#undef HB_COMPAT_2
__host__ __device__ inline float abs(float x) { return ::fabsf(x); }
__host__ __device__ inline double abs(double x) { return ::fabs(x); }
__host__ __device__ inline float max(float x, float y) { return ::fmaxf(x, y); }
__host__ __device__ inline double max(double x, double y) { return ::fmax(x, y); }
__device__ inline float rsqrt(float x) { return ::rsqrtf(x); }
__device__ inline double rsqrt(double x) { return ::rsqrt(x); }

}  // namespace c10::cuda::compat
