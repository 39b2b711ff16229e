#pragma once

/// Marks what the shared library offers to programs.
#define HB_API __attribute__((visibility("default")))
#define HB_LIKELY(x) __builtin_expect(!!(x), 1)
#define HB_UNLIKELY(x) __builtin_expect(!!(x), 0)

/// Marks what kernels of a GPU call as well, in programs that nvcc compiles.
#ifdef __CUDACC__
#define HB_HOST_DEVICE __host__ __device__
#else
#define HB_HOST_DEVICE
#endif
