#pragma once

/// Before a function that kernels of a GPU call, too.
#ifdef __CUDACC__
#define HB_HD __host__ __device__ inline
#else
#define HB_HD inline
#endif
